//! The few words that are understood.
//!
//! What a step brought is judged by comparing, not by reading; words help where comparing cannot tell: whether a
//! short answer refuses or acknowledges, and whether a call asks or changes. They are words that shells,
//! compilers, tools and their interfaces share, in several languages, never the names of particular tools.

use super::words::digest_of;

/// What a word means, as bits, because one word may mean several things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Roles(u32);

impl Roles {
    /// Tells of a failure where a line begins with it.
    pub(super) const LEADS_FAILURE: Self = Self(1);
    /// Tells of a failure wherever it stands.
    pub(super) const FAILURE: Self = Self(1 << 1);
    /// Denies what follows.
    pub(super) const DENIES: Self = Self(1 << 2);
    /// Tells of a failure when denied.
    pub(super) const FAILS_DENIED: Self = Self(1 << 3);
    /// Second of two words that tell of a failure together.
    pub(super) const PAIRED: Self = Self(1 << 4);
    /// A line that begins with it says that there is nothing.
    pub(super) const NOTHING: Self = Self(1 << 5);
    /// A number before it is a duration.
    pub(super) const UNIT: Self = Self(1 << 6);
    /// A number after it is a position or a process.
    pub(super) const COUNTER: Self = Self(1 << 7);
    /// A call that does this asks for something.
    pub(super) const ASKS: Self = Self(1 << 8);
    /// A call that does this changes something.
    pub(super) const CHANGES: Self = Self(1 << 9);
    /// Says how a command is run, not what it does.
    pub(super) const PREFIX: Self = Self(1 << 10);
    /// An argument so named says something about the call, and does nothing.
    pub(super) const REMARK: Self = Self(1 << 11);
    /// An argument so named is a command or a program.
    pub(super) const COMMAND: Self = Self(1 << 12);
    /// An argument so named is what is written.
    pub(super) const WRITTEN: Self = Self(1 << 13);
    /// An argument so named is what is replaced.
    pub(super) const REPLACED: Self = Self(1 << 14);
    /// A call that does this turns pages.
    pub(super) const PAGES: Self = Self(1 << 15);
    /// Says that the call was not carried out because of another one.
    pub(super) const CANCELLED: Self = Self(1 << 16);
    /// Messages about an outage have such a word.
    pub(super) const OUTAGE: Self = Self(1 << 17);
    /// A call that says this runs tests.
    pub(super) const TESTS: Self = Self(1 << 18);

    pub(super) const fn has(self, role: Self) -> bool {
        self.0 & role.0 != 0
    }

    const fn and(self, role: Self) -> Self {
        Self(self.0 | role.0)
    }
}

/// What a word with this digest means.
pub(super) fn roles(word: u32) -> Roles {
    let mut place = word as usize % SLOTS;
    loop {
        let (digest, roles) = TABLE[place];
        if digest == word || roles.0 == 0 {
            return roles;
        }
        place = (place + 1) % SLOTS;
    }
}

/// Whether these two words tell of a failure together.
pub(super) fn is_failing_pair(before: u32, word: u32) -> bool {
    PAIRS.iter().any(|pair| pair[1] == word && pair[0] == before)
}

/// Whether these two words say together that somebody else holds what is needed.
pub(super) fn is_holding_pair(before: u32, word: u32) -> bool {
    HOLDING.iter().any(|pair| pair[1] == word && pair[0] == before)
}

const SLOTS: usize = 1024;

const PAIRS: [[u32; 2]; 27] = digests([
    ["timed", "out"],
    ["permission", "denied"],
    ["access", "denied"],
    ["syntax", "error"],
    ["unexpected", "eof"],
    ["unexpected", "token"],
    ["unexpected", "end"],
    ["unable", "to"],
    ["could", "not"],
    ["couldn", "t"],
    ["can", "t"],
    ["already", "exists"],
    ["a", "directory"],
    ["segmentation", "fault"],
    ["rule", "to"],
    ["konnte", "nicht"],
    ["no", "se"],
    ["\u{9519}", "\u{8bef}"],
    ["\u{5931}", "\u{8d25}"],
    ["\u{65e0}", "\u{6cd5}"],
    ["\u{627e}", "\u{4e0d}"],
    ["\u{5931}", "\u{6557}"],
    ["\u{30a8}", "\u{30e9}"],
    ["\u{305b}", "\u{3093}"],
    ["ok", "false"],
    ["success", "false"],
    ["succeeded", "false"],
]);

const HOLDING: [[u32; 2]; 7] = digests([
    ["get", "lock"],
    ["obtain", "lock"],
    ["acquire", "lock"],
    ["held", "by"],
    ["is", "locked"],
    ["resource", "busy"],
    ["temporarily", "unavailable"],
]);

const fn digests<const N: usize>(words: [[&str; 2]; N]) -> [[u32; 2]; N] {
    let mut pairs = [[0; 2]; N];
    let mut at = 0;
    while at < N {
        pairs[at] = [digest_of(words[at][0]), digest_of(words[at][1])];
        at += 1;
    }
    pairs
}

const GROUPS: [(Roles, &[&str]); 19] = [
    (Roles::CANCELLED, &["sibling", "cancelled", "canceled"]),
    (
        Roles::LEADS_FAILURE,
        &[
            "error",
            "errors",
            "err",
            "e",
            "exception",
            "fatal",
            "usage",
            "failed",
            "failure",
            "fail",
            "panic",
            "aborted",
            "invalid",
            "denied",
            "refused",
            "rejected",
            "forbidden",
            "fehler",
            "erreur",
            "fallo",
            "erro",
            "errore",
            "ошибка",
            "오류",
            "실패",
        ],
    ),
    (
        Roles::FAILURE,
        &[
            "traceback",
            "cannot",
            "unrecognized",
            "unrecognised",
            "unterminated",
            "introuvable",
            "fehlgeschlagen",
            "inexistente",
        ],
    ),
    (Roles::DENIES, &["not", "no", "nicht", "pas", "non", "не", "não", "t"]),
    (
        Roles::FAILS_DENIED,
        &[
            "found",
            "such",
            "exist",
            "exists",
            "defined",
            "permitted",
            "recognized",
            "recognised",
            "installed",
            "allowed",
            "supported",
            "implemented",
            "readable",
            "writable",
            "executable",
            "registered",
            "gefunden",
            "vorhanden",
            "trouvé",
            "trouvée",
            "encontrado",
            "trovato",
            "найден",
            "найдена",
            "найдено",
            "existe",
            "open",
            "locate",
        ],
    ),
    (
        Roles::PAIRED,
        &[
            "out",
            "denied",
            "error",
            "eof",
            "token",
            "end",
            "to",
            "not",
            "t",
            "exists",
            "directory",
            "fault",
            "nicht",
            "se",
            "\u{8bef}",
            "\u{8d25}",
            "\u{6cd5}",
            "\u{4e0d}",
            "\u{6557}",
            "\u{30e9}",
            "\u{3093}",
            "false",
            "lock",
            "by",
            "locked",
            "busy",
            "unavailable",
        ],
    ),
    (
        Roles::OUTAGE,
        &[
            "limit",
            "limits",
            "limited",
            "limiting",
            "limiterror",
            "requests",
            "quota",
            "exhausted",
            "overloaded",
            "ratelimit",
            "ratelimited",
            "ratelimiterror",
            "throttlingexception",
            "unavailable",
            "gateway",
            "server",
            "connection",
            "unreachable",
            "resolution",
            "resolve",
            "eai_again",
            "eai",
            "econnrefused",
            "econnreset",
            "etimedout",
            "enotfound",
            "enetunreach",
            "status",
            "code",
            "http",
            "error",
        ],
    ),
    (
        Roles::TESTS,
        &[
            "test", "tests", "testing", "pytest", "unittest", "spec", "specs", "jest", "vitest", "mocha",
            "rspec", "ctest", "tox", "phpunit", "junit",
        ],
    ),
    (
        Roles::NOTHING,
        &[
            "no",
            "none",
            "nothing",
            "null",
            "kein",
            "keine",
            "keinen",
            "aucun",
            "aucune",
            "ningún",
            "ninguna",
            "nenhum",
            "nenhuma",
            "nessun",
            "nessuna",
            "нет",
            "ничего",
            "\u{6ca1}",
            "\u{65e0}",
            "\u{672a}",
        ],
    ),
    (
        Roles::UNIT,
        &[
            "s",
            "sec",
            "secs",
            "second",
            "seconds",
            "ms",
            "millisecond",
            "milliseconds",
            "us",
            "ns",
            "min",
            "mins",
            "minute",
            "minutes",
            "hour",
            "hours",
        ],
    ),
    (Roles::COUNTER, &["line", "lines", "row", "col", "column", "pid", "took", "port", "elapsed"]),
    (
        Roles::ASKS,
        &[
            "find", "grep", "egrep", "rg", "ag", "ack", "ls", "dir", "which", "whereis", "locate", "tree",
            "type", "glob", "list", "search", "look", "lookup", "query", "select", "get", "fetch", "read",
            "cat", "head", "less", "more", "open", "view", "show", "browse", "inspect", "describe",
            "retrieve", "env", "whoami", "pwd",
        ],
    ),
    (
        Roles::CHANGES,
        &[
            "edit", "write", "create", "insert", "replace", "append", "patch", "update", "save", "modify",
            "apply", "put",
        ],
    ),
    (
        Roles::PREFIX,
        &[
            "sudo", "env", "time", "nohup", "command", "exec", "then", "do", "timeout", "cd", "export",
            "source", "set",
        ],
    ),
    (
        Roles::REMARK,
        &[
            "description",
            "explanation",
            "thought",
            "thoughts",
            "thinking",
            "reasoning",
            "reason",
            "justification",
            "timeout",
            "run_in_background",
            "timeout_ms",
            "timeoutms",
        ],
    ),
    (
        Roles::COMMAND,
        &["command", "cmd", "script", "code", "bash_command", "keystrokes", "chars", "source_code"],
    ),
    (
        Roles::WRITTEN,
        &[
            "new_string",
            "newstring",
            "new_str",
            "newstr",
            "new_text",
            "newtext",
            "content",
            "contents",
            "file_text",
            "filetext",
            "insert_text",
            "new_source",
            "replacement",
            "replace",
            "patch",
            "diff",
            "edits",
            "code_edit",
            "file_content",
            "filecontent",
            "newcontent",
            "new_content",
        ],
    ),
    (
        Roles::REPLACED,
        &[
            "old_string",
            "oldstring",
            "old_str",
            "oldstr",
            "old_text",
            "oldtext",
            "search",
            "find",
            "old_content",
        ],
    ),
    (Roles::PAGES, &["scroll", "page", "scroll_down", "scroll_up", "page_down", "page_up"]),
];

static TABLE: [(u32, Roles); SLOTS] = {
    let mut table = [(0, Roles(0)); SLOTS];
    let mut group = 0;
    while group < GROUPS.len() {
        let (role, words) = GROUPS[group];
        let mut at = 0;
        while at < words.len() {
            let digest = digest_of(words[at]);
            let mut place = digest as usize % SLOTS;
            while table[place].1.0 != 0 && table[place].0 != digest {
                place = (place + 1) % SLOTS;
            }
            table[place] = (digest, table[place].1.and(role));
            at += 1;
        }
        group += 1;
    }
    table
};
