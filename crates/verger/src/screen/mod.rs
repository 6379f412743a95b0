//! What is printed for people: tables, colours on a terminal, times as people say them.

mod paint;
mod table;
mod width;
mod words;

pub(crate) use paint::{Paint, Style};
pub(crate) use table::{Column, Table};
pub(crate) use width::{Width, wrapped};
pub(crate) use words::{ago, clock, count, grouped, lasting, quoted, safe, short, until};
