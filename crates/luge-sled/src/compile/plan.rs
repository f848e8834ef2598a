//! The layout of tapes: marks on the read-only ones, variables and arrays on those of memory.

use std::collections::{BTreeMap, BTreeSet};

use luge_machine::MAX_TAPES;

use super::{
    BackendError,
    tapes::{self, BOUND, Kind, OUTER, THETA, Tape},
};
use crate::core::{Core, THETA as THETA_ARRAY};

/// Something with a place in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Object {
    Slot(usize),
    Temporary(usize),
    Array(usize),
    /// Bits and width.
    Constant(i64, u32),
}

/// How much room an object takes, and how much it is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Want {
    pub(super) width: u32,
    pub(super) length: usize,
    pub(super) weight: u64,
}

/// What a program needs, found out by generating it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Demand {
    /// Sets of lengths on one side of a ruler, and how often each is walked.
    pub(super) profiles: BTreeMap<Vec<u32>, u64>,
    /// The same for the tape that counts rounds of products and quotients.
    pub(super) outer: BTreeMap<Vec<u32>, u64>,
    /// How many bits products have below the point, whether any is rounded, and the widths of the sums they are added to.
    pub(super) fractions: BTreeSet<u32>,
    pub(super) rounds: bool,
    pub(super) heights: BTreeSet<u32>,
    pub(super) objects: BTreeMap<Object, Want>,
    /// Rounds of loops, by how many counters are in use already.
    pub(super) segments: BTreeMap<usize, BTreeSet<u64>>,
    /// Arrays whose head must find its way home.
    pub(super) rewound: BTreeSet<usize>,
    /// Lines of products whose heads on these tapes must go back to where they began.
    pub(super) stays: BTreeSet<(u32, Tape)>,
    pub(super) scratch: bool,
    pub(super) product: bool,
    pub(super) quotient: bool,
    /// Loops over the data with one inside.
    pub(super) places: usize,
}

impl Demand {
    pub(super) fn include(&mut self, other: &Self) {
        for (map, more) in [(&mut self.profiles, &other.profiles), (&mut self.outer, &other.outer)] {
            for (profile, &weight) in more {
                let known = map.entry(profile.clone()).or_default();
                *known = weight.max(*known);
            }
        }
        self.fractions.extend(&other.fractions);
        self.rounds |= other.rounds;
        self.heights.extend(&other.heights);
        for (&object, want) in &other.objects {
            let known = self.objects.entry(object).or_insert(*want);
            known.width = known.width.max(want.width);
            known.length = known.length.max(want.length);
            known.weight = known.weight.max(want.weight);
        }
        for (&depth, segments) in &other.segments {
            self.segments.entry(depth).or_default().extend(segments);
        }
        self.rewound.extend(&other.rewound);
        self.stays.extend(&other.stays);
        self.scratch |= other.scratch;
        self.product |= other.product;
        self.quotient |= other.quotient;
        self.places = self.places.max(other.places);
    }

    /// What must have a place, without how much it is used.
    pub(super) fn needs(&self) -> Self {
        let mut needs = self.clone();
        needs.profiles.values_mut().chain(needs.outer.values_mut()).for_each(|weight| *weight = 0);
        needs.objects.values_mut().for_each(|want| want.weight = 0);
        needs
    }
}

/// One side of a ruler: which way to go, and all marks there, as distances from home.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Side {
    pub(super) tape: Tape,
    pub(super) direction: i8,
    pub(super) marks: Vec<u32>,
}

/// The most sides of rulers; marks of others are seldom in the way then.
const MAX_SIDES: usize = 6;

/// Sides and the profiles on each.
#[derive(Clone, Debug, Default)]
struct Rulers {
    sides: Vec<Vec<(Vec<u32>, u64)>>,
    n_tapes: usize,
}

impl Rulers {
    /// Puts profiles on sides of their own, or where few marks of others are in their way.
    fn new(profiles: &BTreeMap<Vec<u32>, u64>, most_tapes: usize, most_sides: usize) -> Self {
        let most_sides = most_sides.min(2 * most_tapes);
        let mut sorted: Vec<(Vec<u32>, u64)> = profiles.iter().map(|(p, &w)| (p.clone(), w)).collect();
        sorted.sort_by_key(|(profile, weight)| (u64::MAX - weight, profile.clone()));
        let mut sides: Vec<Vec<(Vec<u32>, u64)>> = Vec::new();
        for (profile, weight) in sorted {
            let with = |side: &Vec<(Vec<u32>, u64)>| {
                let mut side = side.clone();
                side.push((profile.clone(), weight));
                in_the_way(&side)
            };
            let added = |side: &Vec<(Vec<u32>, u64)>| with(side).saturating_sub(in_the_way(side));
            let best = (0..sides.len()).min_by_key(|&number| added(&sides[number]));
            match best {
                Some(best) if sides.len() >= most_sides => {
                    sides[best].push((profile, weight));
                }
                _ => sides.push(vec![(profile, weight)]),
            }
        }
        let n_tapes = most_tapes.min(sides.len());
        Self { sides, n_tapes }
    }

    /// The tape of a side, and which way to go.
    fn tape(&self, side: usize) -> (usize, i8) {
        // The sides that are used most come first, so no two of them share a tape.
        match side.checked_sub(self.n_tapes.max(1)) {
            None => (side, 1),
            Some(_) => (self.sides.len() - 1 - side, -1),
        }
    }

    fn marks(&self, side: usize) -> BTreeSet<u32> {
        self.sides.get(side).into_iter().flatten().flat_map(|(profile, _)| profile).copied().collect()
    }

    /// The side with this profile: its number and all its marks. A draft has none: there it is the first.
    fn find(&self, profile: &[u32]) -> (usize, Vec<u32>) {
        let has = |side: &Vec<(Vec<u32>, u64)>| side.iter().any(|(known, _)| known == profile);
        let side = self.sides.iter().position(has);
        side.map_or((0, profile.to_vec()), |side| (side, self.marks(side).into_iter().collect()))
    }

    fn laid(&self, number: usize) -> Laid {
        let marks = |direction: i8| {
            let side = (0..self.sides.len()).find(|&side| self.tape(side) == (number, direction));
            side.map(|side| self.marks(side)).unwrap_or_default()
        };
        let (right, left) = (marks(1), marks(-1));
        let home = left.last().copied().unwrap_or(0);
        let end = home + right.last().copied().unwrap_or(0);
        let marked = |cell: u32| match cell.checked_sub(home) {
            Some(0) => true,
            Some(distance) => right.contains(&distance),
            None => left.contains(&(home - cell)),
        };
        Laid { cells: (0..=end).map(marked).collect(), head: i64::from(home) }
    }
}

/// How many marks are passed that mean nothing to who passes them.
fn in_the_way(side: &[(Vec<u32>, u64)]) -> u64 {
    let marks: BTreeSet<u32> = side.iter().flat_map(|(profile, _)| profile).copied().collect();
    let foreign = |profile: &Vec<u32>| {
        let last = profile.last().copied().unwrap_or(0);
        marks.iter().filter(|&&mark| mark < last && !profile.contains(&mark)).count() as u64
    };
    side.iter().map(|(profile, weight)| weight * foreign(profile)).sum()
}

/// What lies on a tape at the start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Laid {
    pub(super) cells: Vec<bool>,
    pub(super) head: i64,
}

/// The contents of the read-only tapes, and where everything in memory is.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    rulers: Rulers,
    outer: Rulers,
    /// The marks on `bound`, as distances from the point.
    fractions: BTreeSet<u32>,
    heights: BTreeSet<u32>,
    pub(super) rounds: bool,
    segments: BTreeMap<usize, Vec<u64>>,
    /// Tape and word.
    places: BTreeMap<Object, (Tape, i64)>,
    pitches: BTreeMap<Tape, u32>,
    /// The first free word of each tape of memory.
    ends: BTreeMap<Tape, i64>,
    origins: BTreeSet<Tape>,
    pub(super) n_places: usize,
    pub(super) stays: BTreeSet<(u32, Tape)>,
}

impl Plan {
    /// With as many rulers as there is room for.
    pub(super) fn new(demand: &Demand, core: &Core) -> Result<Self, BackendError> {
        let least = least_room(demand);
        let mut needed = 0;
        for n_rulers in (1..=MAX_SIDES).rev() {
            let mut plan = Self {
                rulers: Rulers::new(&demand.profiles, n_rulers, MAX_SIDES),
                outer: Rulers::new(&demand.outer, 1, 2 - usize::from(demand.scratch)),
                fractions: demand.fractions.clone(),
                heights: demand.heights.clone(),
                rounds: demand.rounds,
                segments: demand.segments.iter().map(|(&d, s)| (d, s.iter().copied().collect())).collect(),
                n_places: demand.places,
                stays: demand.stays.clone(),
                ..Self::default()
            };
            plan.places.insert(Object::Array(THETA_ARRAY), (THETA, 0));
            plan.pitches.insert(THETA, core.format.width());
            let fixed = plan.n_fixed(demand, core);
            needed = fixed + least;
            // One ruler is too few, but more than two are worth less than tapes for memory.
            let comfortable = match n_rulers {
                1 => least,
                2 => least + extra_arrays(demand).min(2),
                _ => least + extra_registers(demand) + extra_arrays(demand),
            };
            if let Some(room) = MAX_TAPES.checked_sub(fixed).filter(|&room| room >= comfortable) {
                plan.lay_memory(demand, room);
                return Ok(plan);
            }
        }
        Err(BackendError::TooManyTapes { needed })
    }

    /// Tracks that do not depend on how memory is laid out.
    fn n_fixed(&self, demand: &Demand, core: &Core) -> usize {
        let data = 3 + demand.places;
        let theta = 1 + usize::from(demand.rewound.contains(&THETA_ARRAY));
        let rulers = self.rulers.n_tapes;
        let products = 2 * usize::from(demand.product || demand.quotient)
            + usize::from(!demand.outer.is_empty() || demand.scratch)
            + 2 * usize::from(demand.quotient);
        data + theta + rulers + products + demand.segments.len() + core.tapes.len()
    }

    fn lay_memory(&mut self, demand: &Demand, room: usize) {
        let mut arrays = Vec::new();
        let (mut scalars, mut constants, mut temporaries) = (Vec::new(), Vec::new(), Vec::new());
        for (&object, want) in &demand.objects {
            match object {
                Object::Array(THETA_ARRAY) => {}
                Object::Array(_) => arrays.push((object, *want)),
                Object::Slot(_) => scalars.push((object, *want)),
                Object::Constant(..) => constants.push((object, *want)),
                Object::Temporary(_) => temporaries.push((object, *want)),
            }
        }
        for list in [&mut arrays, &mut scalars, &mut constants] {
            list.sort_by_key(|&(object, want)| (u64::MAX - want.weight, object));
        }
        let rewound = arrays.iter().any(|(object, _)| is_rewound(demand, *object));
        let per_array = 1 + usize::from(rewound);
        // Arrays that are used together should not share a tape; then come registers, and a second tape of constants.
        let n_constants = constants.len().min(1);
        let most = (room - n_constants - LEAST_REGISTERS) / per_array;
        let n_arrays = arrays.len().min(MAX_ARRAY_TAPES).min(most);
        let room = room - n_arrays * per_array;
        let wanted = scalars.len() + temporaries.len();
        let kept = wanted.clamp(LEAST_REGISTERS, MAX_REGISTERS).min(room - n_constants);
        let n_constants = constants.len().min(2).min(room - kept);
        for (number, (object, want)) in arrays.iter().enumerate() {
            let tape = tapes::memory(number % n_arrays.max(1));
            self.put(*object, tape, want);
            if is_rewound(demand, *object) {
                self.origins.insert(tape);
            }
        }
        for (number, (object, want)) in scalars.iter().enumerate() {
            self.put(*object, tapes::memory(n_arrays + number % kept.max(1)), want);
        }
        for (object, want) in &temporaries {
            let Object::Temporary(number) = object else { continue };
            self.put(*object, tapes::memory(n_arrays + kept - 1 - number % kept.max(1)), want);
        }
        for (number, (object, want)) in constants.iter().enumerate() {
            self.put(*object, tapes::constants(number % n_constants.max(1)), want);
        }
        if demand.rewound.contains(&THETA_ARRAY) {
            self.origins.insert(THETA);
        }
    }

    /// Behind what is on a tape already.
    fn put(&mut self, object: Object, tape: Tape, want: &Want) {
        let length = i64::try_from(want.length).unwrap_or(i64::MAX);
        let end = self.ends.entry(tape).or_default();
        self.places.insert(object, (tape, *end));
        *end += length;
        let pitch = self.pitches.entry(tape).or_default();
        *pitch = want.width.max(*pitch);
    }

    /// The tape, the first word, and how many cells a word takes there.
    pub(super) fn place(&self, object: Object) -> Option<(Tape, i64, u32)> {
        let &(tape, word) = self.places.get(&object)?;
        Some((tape, word, self.pitches.get(&tape).copied().unwrap_or(1)))
    }

    pub(super) fn has_origin(&self, tape: Tape) -> bool {
        self.origins.contains(&tape)
    }

    /// Where a set of lengths is marked.
    pub(super) fn side(&self, profile: &[u32]) -> Side {
        let (side, marks) = self.rulers.find(profile);
        let (number, direction) = self.rulers.tape(side);
        Side { tape: tapes::ruler(number), direction, marks }
    }

    /// Where a number of rounds is marked.
    pub(super) fn outer(&self, rounds: u32) -> Side {
        let (side, marks) = self.outer.find(&[rounds]);
        Side { tape: OUTER, direction: self.outer.tape(side).1, marks }
    }

    /// How many marks on `bound` a product with so many bits below the point passes on its way to the point.
    pub(super) fn point(&self, fraction: u32) -> u8 {
        let marks = self.fractions.range(..fraction).filter(|&&other| other > 0).count();
        if fraction == 0 { 0 } else { u8::try_from(1 + marks).unwrap_or(u8::MAX) }
    }

    /// How many it passes on its way to this many bits above the point.
    pub(super) fn zones(&self, fraction: u32, above: u32) -> u8 {
        let marks = self.heights.range(..=above).count();
        self.point(fraction).saturating_add(u8::try_from(marks).unwrap_or(u8::MAX))
    }

    /// How many marks on `bound` there are between two that are not above the point, the first of them included.
    pub(super) fn marks_between(&self, low: i64, high: i64) -> usize {
        let is_inside = |fraction: i64| -fraction >= low && -fraction < high;
        self.fractions.iter().filter(|&&fraction| is_inside(i64::from(fraction))).count()
    }

    /// Which of a counter's marks a loop of so many rounds begins behind.
    pub(super) fn segment(&self, depth: usize, rounds: u64) -> usize {
        let segments = self.segments.get(&depth);
        segments.and_then(|segments| segments.iter().position(|&known| known == rounds)).unwrap_or(0)
    }

    /// What lies on a tape at the start.
    pub(super) fn contents(&self, tape: Tape) -> Laid {
        match tape {
            OUTER => self.outer.laid(0),
            BOUND => self.bound(),
            _ => match tapes::kind(tape) {
                Kind::Ruler(number) => self.rulers.laid(number),
                Kind::Counter(depth) => self.counter(depth),
                Kind::Constants(_) => self.constants(tape),
                Kind::Origin => Laid { cells: vec![true], head: 0 },
                Kind::Other => Laid::default(),
            },
        }
    }

    fn bound(&self) -> Laid {
        let [below, above] = [&self.fractions, &self.heights].map(|marks| marks.last().copied().unwrap_or(0));
        let left = (1..=below).rev().map(|fraction| self.fractions.contains(&fraction));
        let right = (1..=above).map(|height| self.heights.contains(&height));
        Laid { cells: left.chain([true]).chain(right).collect(), head: i64::from(below) }
    }

    fn counter(&self, depth: usize) -> Laid {
        let mut cells = vec![true];
        for &rounds in self.segments.get(&depth).into_iter().flatten() {
            cells.extend(std::iter::repeat_n(false, usize::try_from(rounds).unwrap_or(0)));
            cells.push(true);
        }
        Laid { cells, head: 0 }
    }

    fn constants(&self, tape: Tape) -> Laid {
        let pitch = self.pitches.get(&tape).copied().unwrap_or(1) as usize;
        let mut laid = Laid::default();
        for (object, &(other, word)) in &self.places {
            let Object::Constant(raw, width) = *object else { continue };
            if other != tape {
                continue;
            }
            let first = usize::try_from(word).unwrap_or(0) * pitch;
            laid.cells.resize(laid.cells.len().max(first + pitch), false);
            for bit in 0..width.min(64) {
                laid.cells[first + bit as usize] = raw >> bit & 1 == 1;
            }
        }
        laid
    }
}

fn is_rewound(demand: &Demand, object: Object) -> bool {
    matches!(object, Object::Array(array) if demand.rewound.contains(&array))
}

/// Registers beyond the least that a program has a use for.
fn extra_registers(demand: &Demand) -> usize {
    let wanted =
        demand.objects.keys().filter(|o| matches!(o, Object::Slot(_) | Object::Temporary(_))).count();
    wanted.clamp(LEAST_REGISTERS, MAX_REGISTERS) - LEAST_REGISTERS
}

/// Tapes for arrays beyond the least that a program has a use for.
fn extra_arrays(demand: &Demand) -> usize {
    let arrays = demand.objects.keys().filter(|o| matches!(o, Object::Array(array) if *array != THETA_ARRAY));
    let rewound = arrays.clone().any(|&object| is_rewound(demand, object));
    arrays.count().clamp(1, MAX_ARRAY_TAPES).saturating_sub(1) * (1 + usize::from(rewound))
}

/// Tapes that memory must at least have.
fn least_room(demand: &Demand) -> usize {
    let arrays = demand.objects.keys().filter(|o| matches!(o, Object::Array(array) if *array != THETA_ARRAY));
    let rewound = arrays.clone().any(|&object| is_rewound(demand, object));
    let constants = demand.objects.keys().any(|object| matches!(object, Object::Constant(..)));
    LEAST_REGISTERS + usize::from(arrays.count() > 0) + usize::from(rewound) + usize::from(constants)
}

/// So that operands and temporaries can always be on different tapes.
const LEAST_REGISTERS: usize = 4;

/// More registers would be tapes for little.
const MAX_REGISTERS: usize = 8;

const MAX_ARRAY_TAPES: usize = 3;
