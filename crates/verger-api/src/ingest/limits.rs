//! How much one body may hold.

/// Limits on what is read. A body that exceeds one loses the items concerned, not the others.
///
/// The server bounds the body as a whole before it comes here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Items in one body. What follows is not read. Default: 10,000.
    pub items: usize,
    /// Bytes of one item. Default: 1 MiB, for tool results.
    pub item_bytes: usize,
    /// How deep arguments and results may be nested. Default: 64; nobody's arguments are deeper, and readers that
    /// recurse are many.
    pub depth: usize,
    /// Bytes of a name: an agent, a task, a call, a tool, a host. Default: 256.
    pub name_bytes: usize,
    /// Bytes of a label: phase, progress, model. Default: 4 KiB.
    pub label_bytes: usize,
    /// Bytes of a text: a message, a reason, an error. Default: 256 KiB.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            items: 10_000,
            item_bytes: 1 << 20,
            depth: 64,
            name_bytes: 256,
            label_bytes: 4 << 10,
            text_bytes: 256 << 10,
        }
    }
}
