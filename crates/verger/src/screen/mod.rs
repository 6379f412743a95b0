//! What is printed for people: tables, colours on a terminal, times as people say them.

mod paint;
mod table;
mod words;

pub(crate) use paint::{Paint, Style};
pub(crate) use table::Table;
pub(crate) use words::{ago, lasting, safe, short, until};
