//! The tapes of a machine, and what is on them: marks on read-only tapes, and variables and arrays on the tapes of memory.
//! Tapes that the machine does not use are removed later.

use std::collections::{BTreeMap, BTreeSet};

use luge_machine::MAX_TAPES;

use super::{BackendError, Core, Spot, THETA};

/// A tape, by its purpose.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Tape {
    Data,
    Marks,
    Theta,
    /// Holds products and dividends.
    Product,
    /// Marks where products begin, where their point is, and where the sums end to which they are added. Its head moves with
    /// that of `product`.
    Bound,
    /// Counts the bits of a multiplier and the rounds of a division on one side. On the other it records how far a counter was
    /// moved back.
    Outer,
    Divisor,
    Quotient,
    Ruler(usize),
    Counter(usize),
    /// Marks the current sample of an outer loop over the data while an inner one runs.
    Place(usize),
    Constants(usize),
    Memory(usize),
    /// Holds an object that has no place in the plan yet.
    Draft(Object),
    /// Marks the first cell of a tape of memory, or of `theta`. Their heads move together.
    Origin(Option<usize>),
    /// A tape of the program.
    Own(usize),
}

/// The symbols of `marks`; the first is inside a number.
pub(super) const FEATURE: u8 = 1;
pub(super) const LABEL: u8 = 2;
pub(super) const END: u8 = 3;

impl Tape {
    /// The tape that marks the first cell of this one, which holds arrays.
    pub(super) fn origin(self) -> Self {
        Self::Origin(if let Self::Memory(number) = self { Some(number) } else { None })
    }

    pub(super) fn is_read_only(self) -> bool {
        use Tape::{Bound, Constants, Counter, Data, Marks, Origin, Outer, Ruler};
        matches!(self, Data | Marks | Bound | Outer | Ruler(_) | Counter(_) | Constants(_) | Origin(_))
    }

    pub(super) fn name(self, core: &Core) -> String {
        let numbered = |name: &str, number: usize| format!("{name} {}", number + 1);
        match self {
            Self::Data => "data".to_owned(),
            Self::Marks => "marks".to_owned(),
            Self::Theta => "theta".to_owned(),
            Self::Product => "product".to_owned(),
            Self::Bound => "bound".to_owned(),
            Self::Outer => "outer".to_owned(),
            Self::Divisor => "divisor".to_owned(),
            Self::Quotient => "quotient".to_owned(),
            Self::Ruler(number) => numbered("ruler", number),
            Self::Counter(depth) => numbered("counter", depth),
            Self::Place(depth) => numbered("place", depth),
            Self::Constants(number) => numbered("constants", number),
            Self::Memory(number) => numbered("memory", number),
            Self::Draft(_) => "draft".to_owned(),
            Self::Origin(None) => "origin of theta".to_owned(),
            Self::Origin(Some(number)) => numbered("origin of memory", number),
            Self::Own(number) => format!("tape {}", core.tapes[number]),
        }
    }
}

/// Something with a place in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Object {
    Slot(usize),
    Temporary(usize),
    Array(usize),
    /// Bits and width.
    Constant(i64, u32),
}

/// The size of an object, and an estimate of how often it is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Want {
    pub(super) width: u32,
    pub(super) length: usize,
    pub(super) weight: u64,
}

/// What a program needs, which a draft of its machine finds out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Demand {
    /// Profiles, which are sets of lengths that one side of a ruler marks, and how often each is used.
    pub(super) profiles: BTreeMap<Vec<u32>, u64>,
    /// The same for the tape that counts the rounds of products and quotients.
    pub(super) outer: BTreeMap<Vec<u32>, u64>,
    /// The numbers of fraction bits of products.
    pub(super) fractions: BTreeSet<u32>,
    /// Whether a product is rounded.
    pub(super) rounds: bool,
    /// The widths of the sums to which products are added.
    pub(super) heights: BTreeSet<u32>,
    pub(super) objects: BTreeMap<Object, Want>,
    /// The numbers of rounds of loops, by the number of enclosing counters.
    pub(super) segments: BTreeMap<usize, BTreeSet<u64>>,
    /// Arrays whose heads must find the first word.
    pub(super) rewound: BTreeSet<usize>,
    /// Lines of products, and tapes whose heads these products must bring back to where they started.
    pub(super) stays: BTreeSet<(u32, Tape)>,
    /// Whether loops record on `outer` how far a counter was moved back.
    pub(super) scratch: bool,
    pub(super) product: bool,
    pub(super) quotient: bool,
    /// The number of nested loops over the data, without the innermost.
    pub(super) places: usize,
}

impl Demand {
    /// The same without the estimates of use.
    pub(super) fn without_weights(&self) -> Self {
        let mut needs = self.clone();
        needs.profiles.values_mut().chain(needs.outer.values_mut()).for_each(|weight| *weight = 0);
        needs.objects.values_mut().for_each(|want| want.weight = 0);
        needs
    }
}

/// One side of a ruler: its direction, and all its marks as distances from home.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Side {
    pub(super) tape: Tape,
    pub(super) direction: i8,
    pub(super) marks: Vec<u32>,
}

/// The most sides of rulers. With more of them, foreign marks are seldom in the way.
const MAX_SIDES: usize = 6;

/// The sides of rulers, and the profiles on each side.
#[derive(Clone, Debug, Default)]
pub(super) struct Rulers {
    sides: Vec<Vec<(Vec<u32>, u64)>>,
    n_tapes: usize,
}

impl Rulers {
    /// Assigns each profile to a side of its own or, if there are too many, to the side with the fewest foreign marks.
    fn new(profiles: &BTreeMap<Vec<u32>, u64>, most_tapes: usize, most_sides: usize) -> Self {
        let most_sides = most_sides.min(2 * most_tapes);
        let mut sorted: Vec<(Vec<u32>, u64)> = profiles.iter().map(|(p, &w)| (p.clone(), w)).collect();
        sorted.sort_by_key(|(profile, weight)| (u64::MAX - weight, profile.clone()));
        let mut sides: Vec<Vec<(Vec<u32>, u64)>> = Vec::new();
        for (profile, weight) in sorted {
            let with = |side: &Vec<(Vec<u32>, u64)>| {
                let mut side = side.clone();
                side.push((profile.clone(), weight));
                cost(&side)
            };
            let added = |side: &Vec<(Vec<u32>, u64)>| with(side).saturating_sub(cost(side));
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

    /// The tape and the direction of a side.
    fn tape(&self, side: usize) -> (usize, i8) {
        // The sides that are used most come first, and each of those gets a tape of its own.
        match side.checked_sub(self.n_tapes.max(1)) {
            None => (side, 1),
            Some(_) => (self.sides.len() - 1 - side, -1),
        }
    }

    fn marks(&self, side: usize) -> BTreeSet<u32> {
        self.sides.get(side).into_iter().flatten().flat_map(|(profile, _)| profile).copied().collect()
    }

    /// The side with this profile. A draft uses the first side for all profiles.
    pub(super) fn find(&self, profile: &[u32], tape: fn(usize) -> Tape) -> Side {
        let has = |side: &Vec<(Vec<u32>, u64)>| side.iter().any(|(known, _)| known == profile);
        let side = self.sides.iter().position(has);
        let (number, direction) = self.tape(side.unwrap_or(0));
        let marks = side.map_or(profile.to_vec(), |side| self.marks(side).into_iter().collect());
        Side { tape: tape(number), direction, marks }
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

/// The cost of a side: how often heads pass marks of other profiles.
fn cost(side: &[(Vec<u32>, u64)]) -> u64 {
    let marks: BTreeSet<u32> = side.iter().flat_map(|(profile, _)| profile).copied().collect();
    let foreign = |profile: &Vec<u32>| {
        let last = profile.last().copied().unwrap_or(0);
        marks.iter().filter(|&&mark| mark < last && !profile.contains(&mark)).count() as u64
    };
    side.iter().map(|(profile, weight)| weight * foreign(profile)).sum()
}

/// The initial contents of a tape.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Laid {
    pub(super) cells: Vec<bool>,
    pub(super) head: i64,
}

/// The contents of the read-only tapes, and the place of everything in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) needs: Demand,
    pub(super) rulers: Rulers,
    pub(super) outer: Rulers,
    /// The tape and the first word of each object.
    places: BTreeMap<Object, (Tape, i64)>,
    pitches: BTreeMap<Tape, u32>,
    /// The first free word of each tape of memory.
    ends: BTreeMap<Tape, i64>,
    /// The tapes of arrays whose first cell another tape marks.
    pub(super) origins: BTreeSet<Tape>,
}

impl Plan {
    /// A plan with as many rulers as there is room for.
    pub(super) fn new(demand: Demand, core: &Core) -> Result<Self, BackendError> {
        let memory = Memory::new(&demand);
        let least = memory.least_room();
        let mut needed = 0;
        for n_rulers in (1..=MAX_SIDES).rev() {
            let mut plan = Self {
                needs: demand.clone(),
                rulers: Rulers::new(&demand.profiles, n_rulers, MAX_SIDES),
                outer: Rulers::new(&demand.outer, 1, 2 - usize::from(demand.scratch)),
                ..Self::default()
            };
            plan.places.insert(Object::Array(THETA), (Tape::Theta, 0));
            plan.pitches.insert(Tape::Theta, core.format.width());
            let fixed = plan.n_fixed(core);
            needed = fixed + least;
            // One ruler is too few, but tapes for memory are worth more than a third one.
            let comfortable = match n_rulers {
                1 => least,
                2 => least + memory.extra_arrays().min(2),
                _ => least + memory.extra_registers() + memory.extra_arrays(),
            };
            if let Some(room) = MAX_TAPES.checked_sub(fixed).filter(|&room| room >= comfortable) {
                plan.lay_memory(&memory, room);
                return Ok(plan);
            }
        }
        Err(BackendError::TooManyTapes(needed))
    }

    /// The number of binary tapes other than those of memory.
    fn n_fixed(&self, core: &Core) -> usize {
        let demand = &self.needs;
        let data = 3 + demand.places;
        let theta = 1 + usize::from(demand.rewound.contains(&THETA));
        let rulers = self.rulers.n_tapes;
        let products = 2 * usize::from(demand.product || demand.quotient)
            + usize::from(!demand.outer.is_empty() || demand.scratch)
            + 2 * usize::from(demand.quotient);
        data + theta + rulers + products + demand.segments.len() + core.tapes.len()
    }

    fn lay_memory(&mut self, memory: &Memory, room: usize) {
        let Memory { arrays, variables, temporaries, constants, per_array } = memory;
        // Arrays that are used together should not share a tape. Registers come next, and then a second tape of constants.
        let n_constants = constants.len().min(1);
        let most = (room - n_constants - LEAST_REGISTERS) / per_array;
        let n_arrays = arrays.len().min(MAX_ARRAY_TAPES).min(most);
        let room = room - n_arrays * per_array;
        let wanted = variables.len() + temporaries.len();
        let n_registers = wanted.clamp(LEAST_REGISTERS, MAX_REGISTERS).min(room - n_constants);
        let n_constants = constants.len().min(2).min(room - n_registers);
        for (number, (object, want)) in arrays.iter().enumerate() {
            self.put(*object, Tape::Memory(number % n_arrays.max(1)), want);
        }
        for (number, (object, want)) in variables.iter().enumerate() {
            self.put(*object, Tape::Memory(n_arrays + number % n_registers.max(1)), want);
        }
        for (object, want) in temporaries {
            let Object::Temporary(number) = object else { continue };
            let register = n_registers - 1 - number % n_registers.max(1);
            self.put(*object, Tape::Memory(n_arrays + register), want);
        }
        for (number, (object, want)) in constants.iter().enumerate() {
            self.put(*object, Tape::Constants(number % n_constants.max(1)), want);
        }
        let origins = self.needs.rewound.iter().filter_map(|&array| self.places.get(&Object::Array(array)));
        self.origins = origins.map(|place| place.0).collect();
    }

    /// Places an object behind those that are already on a tape.
    fn put(&mut self, object: Object, tape: Tape, want: &Want) {
        let length = i64::try_from(want.length).unwrap_or(i64::MAX);
        let end = self.ends.entry(tape).or_default();
        self.places.insert(object, (tape, *end));
        *end += length;
        let pitch = self.pitches.entry(tape).or_default();
        *pitch = want.width.max(*pitch);
    }

    /// The first word of an object.
    pub(super) fn place(&self, object: Object) -> Option<Spot> {
        let &(tape, word) = self.places.get(&object)?;
        Some(Spot::new(tape, self.pitches.get(&tape).copied().unwrap_or(1), word))
    }

    /// The number of marks on `bound` from the lowest bit of a product with this many fraction bits up to the point.
    pub(super) fn point(&self, fraction: u32) -> u8 {
        let marks = self.needs.fractions.range(..fraction).filter(|&&other| other > 0).count();
        if fraction == 0 { 0 } else { u8::try_from(1 + marks).unwrap_or(u8::MAX) }
    }

    /// The number of marks from the lowest bit up to this many bits above the point.
    pub(super) fn zones(&self, fraction: u32, above: u32) -> u8 {
        let marks = self.needs.heights.range(..=above).count();
        self.point(fraction).saturating_add(u8::try_from(marks).unwrap_or(u8::MAX))
    }

    /// The number of marks on `bound` from one cell up to, but not including, another that is not above the point.
    pub(super) fn marks_between(&self, low: i64, high: i64) -> usize {
        let is_inside = |fraction: i64| -fraction >= low && -fraction < high;
        self.needs.fractions.iter().filter(|&&fraction| is_inside(i64::from(fraction))).count()
    }

    /// The mark of a counter behind which a loop with this many rounds starts.
    pub(super) fn segment(&self, depth: usize, rounds: u64) -> i64 {
        let segments = self.needs.segments.get(&depth).into_iter().flatten();
        (0..).zip(segments).find(|&(_, &known)| known == rounds).map_or(0, |(number, _)| number)
    }

    /// The initial contents of a tape.
    pub(super) fn contents(&self, tape: Tape) -> Laid {
        match tape {
            Tape::Outer => self.outer.laid(0),
            Tape::Bound => self.bound(),
            Tape::Ruler(number) => self.rulers.laid(number),
            Tape::Counter(depth) => self.counter(depth),
            Tape::Constants(_) => self.constants(tape),
            Tape::Origin(_) => Laid { cells: vec![true], head: 0 },
            _ => Laid::default(),
        }
    }

    fn bound(&self) -> Laid {
        let [below, above] =
            [&self.needs.fractions, &self.needs.heights].map(|marks| marks.last().copied().unwrap_or(0));
        let left = (1..=below).rev().map(|fraction| self.needs.fractions.contains(&fraction));
        let right = (1..=above).map(|height| self.needs.heights.contains(&height));
        Laid { cells: left.chain([true]).chain(right).collect(), head: i64::from(below) }
    }

    fn counter(&self, depth: usize) -> Laid {
        let mut cells = vec![true];
        for &rounds in self.needs.segments.get(&depth).into_iter().flatten() {
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

/// The objects in memory, those that are used most first; temporaries by number.
struct Memory {
    arrays: Vec<(Object, Want)>,
    variables: Vec<(Object, Want)>,
    temporaries: Vec<(Object, Want)>,
    constants: Vec<(Object, Want)>,
    /// Tapes per tape of arrays: it may need another that marks its origin.
    per_array: usize,
}

impl Memory {
    fn new(demand: &Demand) -> Self {
        let all = |is_wanted: fn(&Object) -> bool| -> Vec<(Object, Want)> {
            let objects = demand.objects.iter().filter(|(object, _)| is_wanted(object));
            objects.map(|(&object, &want)| (object, want)).collect()
        };
        let sorted = |is_wanted: fn(&Object) -> bool| {
            let mut objects = all(is_wanted);
            objects.sort_by_key(|&(object, want)| (u64::MAX - want.weight, object));
            objects
        };
        let rewound = demand.rewound.iter().any(|&array| array != THETA);
        Self {
            arrays: sorted(|object| matches!(object, Object::Array(array) if *array != THETA)),
            variables: sorted(|object| matches!(object, Object::Slot(_))),
            temporaries: all(|object| matches!(object, Object::Temporary(_))),
            constants: sorted(|object| matches!(object, Object::Constant(..))),
            per_array: 1 + usize::from(rewound),
        }
    }

    /// The fewest tapes that memory needs.
    fn least_room(&self) -> usize {
        let n_arrays = usize::from(!self.arrays.is_empty()) + self.per_array - 1;
        LEAST_REGISTERS + n_arrays + usize::from(!self.constants.is_empty())
    }

    /// Registers beyond the fewest that the program can use.
    fn extra_registers(&self) -> usize {
        let wanted = self.variables.len() + self.temporaries.len();
        wanted.clamp(LEAST_REGISTERS, MAX_REGISTERS) - LEAST_REGISTERS
    }

    /// Tapes for arrays beyond the fewest that the program can use.
    fn extra_arrays(&self) -> usize {
        self.arrays.len().clamp(1, MAX_ARRAY_TAPES).saturating_sub(1) * self.per_array
    }
}

/// With this many registers, operands and temporaries can always be on different tapes.
const LEAST_REGISTERS: usize = 4;

/// More registers gain little.
const MAX_REGISTERS: usize = 8;

const MAX_ARRAY_TAPES: usize = 3;
