//! Changing files. What tools answer to it is nearly always the same, whatever was changed.

use std::fmt::Write as _;

use super::code::{Source, block, line};
use super::told::{Told, json};
use super::voice::{Dialect, Voice};

/// Some lines of this file are replaced by others.
pub(crate) fn edit(voice: &mut Voice, file: &str) -> Told {
    let (old, lines) = (line(voice), voice.number(1, 4));
    let new = block(voice, lines);
    match voice.dialect {
        Dialect::Tools => Told::change(
            "Edit",
            json(&[("file_path", file), ("old_string", &old), ("new_string", new.trim_end())]),
            format!("The file {file} has been updated successfully."),
        ),
        Dialect::Shell => {
            let command = format!(
                "python3 - <<'EOF'\np='{file}'\ns=open(p).read()\ns=s.replace('''{old}''','''{new}''')\nopen(p,'w').write(s)\nEOF"
            );
            Told::change("bash", command, "")
        }
        Dialect::Editor => {
            let from = voice.number(1, 300);
            let mut page = format!("[File: {file} ({} lines total)]\n", from + voice.number(9, 300));
            for (nth, line) in new.lines().enumerate() {
                let _ = writeln!(page, "{}:{line}", from + nth as u64);
            }
            Told::change("edit", format!("edit {from}:{}\n{new}end_of_edit", from + lines - 1), page)
        }
    }
}

/// A new file is written.
pub(crate) fn write(voice: &mut Voice) -> Told {
    let file = voice.file();
    let lines = voice.number(2, 6);
    let content = block(voice, lines);
    match voice.dialect {
        Dialect::Tools => Told::change(
            "Write",
            json(&[("file_path", &file), ("content", &content)]),
            format!("File created successfully at: {file}"),
        ),
        Dialect::Shell | Dialect::Editor => {
            Told::change("bash", format!("cat > {file} <<'EOF'\n{content}EOF"), "")
        }
    }
}

/// These lines take the place of this line of an open file, of which the whole is shown afterwards.
pub(crate) fn shown(voice: &Voice, source: &Source, at: usize, new: &str) -> Told {
    match voice.dialect {
        Dialect::Tools => Told::new(
            "str_replace_editor",
            json(&[
                ("command", "insert"),
                ("path", &source.file),
                ("insert_line", &at.to_string()),
                ("new_str", new),
            ]),
            format!("The file has been edited. Here is the file:\n{}", source.page()),
        ),
        Dialect::Shell => {
            let command =
                format!("sed -i '{at}i\\{}' {} && cat -n {}", new.trim_end(), source.file, source.file);
            Told::new("bash", command, source.page())
        }
        Dialect::Editor => Told::new("edit", format!("edit {at}:{at}\n{new}end_of_edit"), source.page()),
    }
}

/// One change in many places.
#[derive(Debug)]
pub(crate) struct Sweep {
    manner: usize,
    old: String,
    new: String,
}

impl Sweep {
    /// A change of one of three manners: a name is replaced, one is replaced by a script, files are moved.
    pub(crate) fn draw(voice: &mut Voice, manner: usize) -> Self {
        Self { manner, old: voice.name(), new: voice.name() }
    }

    /// The change in the next place.
    pub(crate) fn next(&self, voice: &mut Voice) -> Told {
        let (Self { old, new, .. }, file) = (self, voice.file());
        match (self.manner, voice.dialect) {
            (0, Dialect::Tools) => Told::new(
                "Edit",
                json(&[
                    ("file_path", &file),
                    ("old_string", &format!("use {old};")),
                    ("new_string", &format!("use {new};")),
                ]),
                format!("The file {file} has been updated successfully."),
            ),
            (0 | 1, _) => voice.run(&format!("sed -i 's/{old}/{new}/g' {file} && echo ok"), "ok"),
            _ => {
                let (folder, name) = file.rsplit_once('/').unwrap_or(("src", &file));
                voice.run(
                    &format!("git mv {file} {folder}/{new}/{name} && echo '1 file moved'"),
                    "1 file moved",
                )
            }
        }
    }
}
