//! The words of which names, files and sentences are made.

pub(super) const NOUNS: [&str; 72] = [
    "invoice", "ledger", "cart", "session", "token", "cache", "route", "parser", "schema", "index", "report",
    "widget", "queue", "worker", "payload", "cursor", "shard", "bucket", "policy", "tenant", "account",
    "order", "refund", "coupon", "shipment", "address", "label", "batch", "record", "column", "layout",
    "theme", "canvas", "frame", "buffer", "packet", "socket", "header", "cookie", "digest", "signer",
    "vault", "lease", "quota", "metric", "gauge", "trace", "segment", "alert", "rule", "filter", "planner",
    "solver", "matrix", "vector", "kernel", "sampler", "decoder", "encoder", "mixer", "timer", "calendar",
    "booking", "ticket", "channel", "topic", "snapshot", "manifest", "catalog", "registry", "adapter",
    "gateway",
];

pub(super) const VERBS: [&str; 48] = [
    "load", "parse", "render", "apply", "merge", "split", "flush", "resolve", "validate", "compute",
    "update", "fetch", "store", "insert", "remove", "encode", "decode", "convert", "collect", "schedule",
    "retry", "cancel", "expand", "trim", "rotate", "lookup", "bind", "attach", "detach", "format", "sort",
    "group", "count", "refresh", "rebuild", "verify", "copy", "drain", "accept", "reject", "mark", "seal",
    "open", "close", "publish", "enqueue", "restore", "prune",
];

pub(super) const ADJECTIVES: [&str; 36] = [
    "pending",
    "stale",
    "active",
    "next",
    "inner",
    "remote",
    "local",
    "shared",
    "raw",
    "signed",
    "partial",
    "empty",
    "default",
    "nested",
    "cached",
    "primary",
    "unique",
    "lazy",
    "expired",
    "visible",
    "hidden",
    "weekly",
    "legacy",
    "final",
    "current",
    "internal",
    "public",
    "typed",
    "bounded",
    "sparse",
    "dense",
    "fallback",
    "optional",
    "strict",
    "loose",
    "duplicate",
];

pub(super) const FOLDERS: [&str; 24] = [
    "billing", "checkout", "auth", "storage", "search", "mail", "reports", "api", "ui", "jobs", "sync",
    "import", "export", "payments", "catalog", "users", "admin", "media", "geo", "stats", "config", "events",
    "orders", "support",
];
