//! The blocks at which macrosteps begin, and the width of their windows: a few cells at first, more where a block
//! is entered often and longer macrosteps pay.

/// The most cells that the windows of a block have together, unless its first step depends on more.
const FEW_BITS: u32 = 12;
/// The same for a block that is come to again and again and has shown few contents.
const MANY_BITS: u32 = 28;

/// When blocks are given wide windows.
#[derive(Clone, Copy, Debug)]
struct Habits {
    /// Macrosteps that are made before blocks are looked at again.
    a_while: u32,
    /// How often a block is come to before its windows are worth widening.
    often: u32,
    /// How few contents it has shown by then.
    few_contents: u32,
    /// So many contents of wide windows that they are not worth it.
    many_contents: u32,
}

impl Default for Habits {
    fn default() -> Self {
        Self { a_while: 1 << 16, often: 1 << 15, few_contents: 128, many_contents: 1 << 11 }
    }
}

/// A block from which macrosteps begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryPoint {
    pub(super) block: u32,
    /// Its windows among all.
    pub(super) first_window: u32,
    pub(super) n_windows: u32,
    /// How many macrosteps begin there.
    pub(super) n_known: u32,
    pub(super) most_bits: u32,
    /// Whether windows of another size have been tried.
    settled: bool,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It has no windows yet.
    New,
    Shaped,
    /// Another root, with windows of another size, has taken its place.
    Replaced,
    /// Its first step depends on too many cells.
    Wide,
}

/// All roots.
#[derive(Clone, Debug)]
pub(super) struct Roots {
    pub(super) all: Vec<EntryPoint>,
    /// The root of each block that has one.
    of_block: Vec<Option<u32>>,
    /// How many macrosteps have begun at each root, and how many in all since roots were looked at.
    uses: Vec<u32>,
    made: u32,
    habits: Habits,
}

/// A root, and the one that takes its place.
pub(super) struct Replaced {
    pub(super) old: u32,
    pub(super) new: u32,
}

impl Roots {
    pub(super) fn new(n_blocks: usize) -> Self {
        let of_block = vec![None; n_blocks];
        Self { all: Vec::new(), of_block, uses: Vec::new(), made: 0, habits: Habits::default() }
    }

    /// The root of a block; a new one has no windows yet.
    pub(super) fn of(&mut self, block: usize) -> usize {
        let new = self.all.len() as u32;
        let root = *self.of_block[block].get_or_insert(new);
        if root == new {
            self.add(block, FEW_BITS, false);
        }
        root as usize
    }

    fn add(&mut self, block: usize, most_bits: u32, settled: bool) {
        let (block, kind) = (block as u32, Kind::New);
        self.all.push(EntryPoint {
            block,
            first_window: 0,
            n_windows: 0,
            n_known: 0,
            most_bits,
            settled,
            kind,
        });
        self.uses.push(0);
    }

    /// Notes that a macrostep has begun at a root; says whether it is time to look at roots again.
    #[inline]
    pub(super) fn used(&mut self, root: usize) -> bool {
        self.uses[root] = self.uses[root].saturating_add(1);
        self.made += 1;
        self.made >= self.habits.a_while
    }

    /// Gives wide windows to blocks that are worth it, and takes them away from those that are not, once in a while.
    pub(super) fn look_again(&mut self) -> Vec<Replaced> {
        let Habits { a_while, often, few_contents, many_contents } = self.habits;
        if self.made < a_while {
            return Vec::new();
        }
        self.made = 0;
        let mut replaced = Vec::new();
        for root in 0..self.all.len() {
            let EntryPoint { n_known, most_bits, settled, kind, .. } = self.all[root];
            let worth_it = self.uses[root] >= often && n_known <= few_contents;
            let wanted = match most_bits {
                FEW_BITS if !settled && worth_it => MANY_BITS,
                MANY_BITS if n_known >= many_contents => FEW_BITS,
                _ => continue,
            };
            if kind == Kind::Shaped {
                replaced.push(self.replace(root, wanted));
            }
        }
        replaced
    }

    /// Lets a root with windows of another size take the place of one.
    fn replace(&mut self, root: usize, most_bits: u32) -> Replaced {
        let (block, new) = (self.all[root].block as usize, self.all.len() as u32);
        self.all[root].kind = Kind::Replaced;
        self.of_block[block] = Some(new);
        self.add(block, most_bits, true);
        Replaced { old: root as u32, new }
    }
}

#[cfg(feature = "faults")]
impl Roots {
    /// Gives blocks wide windows soon, and takes them away soon.
    pub(super) fn widen_soon(&mut self) {
        self.habits = Habits { a_while: 8, often: 4, few_contents: 64, many_contents: 4 };
    }

    /// Whether windows were widened, and whether they were narrowed again.
    pub(super) fn have_tried(&self) -> (bool, bool) {
        let any = |bits| self.all.iter().any(|root| root.settled && root.most_bits == bits);
        (any(MANY_BITS), any(FEW_BITS))
    }
}
