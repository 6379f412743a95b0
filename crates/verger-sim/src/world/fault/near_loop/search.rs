//! One thing is searched for in ever other words, and is not there.

use crate::world::text::{self, Told, Voice, json};

/// What is searched for.
#[derive(Debug)]
pub(super) struct Search {
    words: [&'static str; 3],
    /// The pages that the web answers with, if it is asked.
    pages: Option<Vec<String>>,
}

impl Search {
    pub(super) fn draw(voice: &mut Voice) -> Self {
        let words = [voice.noun(), voice.adjective(), voice.noun()];
        let pages = voice.chance(0.3).then(|| {
            (0..4)
                .map(|_| {
                    let (name, text) = (voice.name(), text::next(voice));
                    format!("https://docs.{}.example/{name}\n{text}", voice.noun())
                })
                .collect()
        });
        Self { words, pages }
    }

    pub(super) fn next(&self, voice: &mut Voice) -> Told {
        let phrase = self.phrase(voice);
        let Some(pages) = &self.pages else {
            if voice.chance(0.1) {
                let word = self.words[0];
                let told = text::nothing(voice, word);
                let result =
                    format!("More than {} files matched for \"{word}\". Please narrow your search.", 812);
                return Told { result, ..told };
            }
            return text::nothing(voice, &phrase);
        };
        // Nearly the same pages, in another order.
        let first = voice.number(0, pages.len() as u64) as usize;
        let found: Vec<&str> = (0..3).map(|nth| pages[(first + nth) % pages.len()].as_str()).collect();
        Told::new("web_search", json(&[("query", &phrase)]), found.join("\n\n"))
    }

    fn phrase(&self, voice: &mut Voice) -> String {
        let ([a, b, c], other) = (self.words, voice.adjective());
        match voice.number(0, 10) {
            0 => format!("{b} {a}"),
            1 => format!("{a}_{c}"),
            2 => format!("{b} {a} {c}"),
            3 => format!("{b}_{a}_{c}"),
            4 => format!("{a} {c} handling"),
            5 => format!("{b}.*{a}"),
            6 => format!("{other} {a} {c}"),
            7 => format!("{} {b} {a}", voice.verb()),
            8 => format!("{a} {c} {other}"),
            _ => format!("how to {} {b} {c} {a}", voice.verb()),
        }
    }
}
