//! The documentation hangs together: every page is listed, every link leads somewhere, every error has a page.
//!
//! mdBook would check part of this, but building it takes minutes; `make docs` uses it, `make test` does not.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_page_is_in_the_summary() {
    let book = support::root().join("docs/src");
    let summary = fs::read_to_string(book.join("SUMMARY.md")).expect("the book has a summary");
    let listed: BTreeSet<PathBuf> = links(&summary).into_iter().map(PathBuf::from).collect();
    let pages: BTreeSet<PathBuf> = support::files(&book, ".md")
        .iter()
        .map(|path| path.strip_prefix(&book).expect("below the book").to_path_buf())
        .filter(|path| path != Path::new("SUMMARY.md"))
        .collect();
    assert!(!pages.is_empty(), "the book has no pages");
    assert_eq!(listed, pages);
}

#[test]
fn every_relative_link_leads_somewhere() {
    let root = support::root();
    let broken: Vec<_> = documents(&root).iter().flat_map(|path| broken_links(path)).collect();
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn l54_every_file_that_the_architecture_names_is_there() {
    let root = support::root();
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the project's architecture");
    let named = named_files(&text);
    assert!(10 < named.len(), "no files were found in it");
    let gone: Vec<_> = named.into_iter().filter(|path| !root.join(path).exists()).collect();
    assert_eq!(gone, Vec::<&str>::new());
}

#[test]
fn l54_people_find_the_configuration_and_what_to_do_by_hand() {
    let book = support::root().join("docs/src");
    let summary = fs::read_to_string(book.join("SUMMARY.md")).expect("the book has a summary");
    let listed = links(&summary);
    for page in ["configuration", "manual-intervention", "breaker-reset", "recovery"] {
        let file = format!("/{page}.md");
        assert!(listed.iter().any(|link| link.ends_with(&file)), "no page {page}");
    }
}

#[test]
fn every_error_code_has_a_page_and_every_page_a_code() {
    let root = support::root();
    let codes: BTreeSet<String> = support::files(&root.join("crates"), ".rs")
        .iter()
        .filter(|path| !path.components().any(|part| part.as_os_str() == "tests"))
        .flat_map(|path| error_codes(&fs::read_to_string(path).expect("a readable source")))
        .collect();
    let pages: BTreeSet<String> = support::files(&root.join("docs/src/errors"), ".md")
        .iter()
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .filter(|name| name != "index")
        .collect();
    assert!(!codes.is_empty(), "no error code was found");
    assert_eq!(codes, pages);
}

#[test]
fn every_error_page_says_what_it_means_and_what_to_do() {
    let wrong: Vec<_> = support::files(&support::root().join("docs/src/errors"), ".md")
        .iter()
        .filter(|path| path.file_stem().is_some_and(|name| name != "index"))
        .flat_map(|path| {
            let code = path.file_stem().unwrap_or_default().to_string_lossy();
            missing_parts(&code, &fs::read_to_string(path).expect("a readable page"))
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

/// Every Markdown file of the project.
fn documents(root: &Path) -> Vec<PathBuf> {
    let mut documents = support::files(&root.join("docs"), ".md");
    documents.extend(
        fs::read_dir(root)
            .expect("a readable root")
            .map(|entry| entry.expect("a readable root").path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "md")),
    );
    assert!(documents.iter().any(|path| path.ends_with("README.md")), "no README was found");
    documents
}

/// The text without code: what stands in fences and between backticks is no link and no heading.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // Every second part stands between backticks.
            prose.extend(line.split('`').step_by(2));
        }
        prose.push('\n');
    }
    prose
}

/// The targets of all links and pictures that are no addresses on the web.
fn links(text: &str) -> Vec<String> {
    prose(text)
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.trim().to_owned())
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .collect()
}

/// What stands between backticks and begins like a path into the crates.
fn named_files(text: &str) -> Vec<&str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|it| it.starts_with("crates/"))
        .collect()
}

fn broken_links(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).expect("a readable page");
    let leads = |target: &str| {
        let (path, anchor) =
            target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
        let path = if path.is_empty() { page.to_path_buf() } else { page.with_file_name("").join(path) };
        match anchor {
            None => path.exists(),
            Some(anchor) => fs::read_to_string(path).is_ok_and(|text| anchors(&text).contains(anchor)),
        }
    };
    links(&text)
        .into_iter()
        .filter(|target| !leads(target))
        .map(|target| format!("{}: {target}", page.display()))
        .collect()
}

/// What links to headings are called, by the rule of mdBook and GitHub.
fn anchors(text: &str) -> BTreeSet<String> {
    // Headings keep what stands between backticks, so only the fences are left out.
    let mut fenced = false;
    text.lines()
        .filter(|line| {
            fenced ^= line.trim_start().starts_with("```");
            !fenced && line.starts_with('#')
        })
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
                .collect()
        })
        .collect()
}

/// The codes `"VG…"` in a source, in quotes: where they are given out, not where they are spoken of.
fn error_codes(text: &str) -> Vec<String> {
    text.split("\"VG")
        .skip(1)
        .filter_map(|rest| rest.split_once('"'))
        .map(|(digits, _)| digits)
        .filter(|digits| digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .map(|digits| format!("VG{digits}"))
        .collect()
}

fn missing_parts(code: &str, text: &str) -> Vec<String> {
    [format!("# {code}: "), "## What it means".to_owned(), "## What to do".to_owned()]
        .into_iter()
        .filter(|part| !text.lines().any(|line| line.starts_with(part.as_str())))
        .map(|part| format!("{code}.md lacks `{part}`"))
        .collect()
}

/// The checks themselves are held against pages that break them.
mod checks {
    use super::*;

    #[test]
    fn links_are_found_in_prose_and_not_in_code() {
        let text = "See [a](b.md) and ![c](d.svg#e), not `[f](g)` or [web](https://h.example).\n```\n[i](j)\n```\n[k](#l)";
        assert_eq!(links(text), ["b.md", "d.svg#e", "#l"]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let page = folder.join("page.md");
        let text = "# A `heading` & more\n```\n# no heading\n```\n[a](page.md) [b](gone.md) [c](#a-heading--more) [d](page.md#no-heading) [e](gone.md#f)";
        fs::write(&page, text).expect("a writable folder");
        let broken = ["gone.md", "page.md#no-heading", "gone.md#f"];
        assert_eq!(broken_links(&page), broken.map(|target| format!("{}: {target}", page.display())));
    }

    #[test]
    fn files_are_found_between_backticks() {
        assert_eq!(
            named_files("`crates/a.rs` and crates/b.rs, `c`\n| `crates/d` |"),
            ["crates/a.rs", "crates/d"]
        );
    }

    #[test]
    fn error_codes_are_found_where_they_are_given_out() {
        let source = "/// See VG0001.\n=> \"VG0102\",\n\"VG12\" \"VG01023\" \"VGabcd\" \"VG0204\"";
        assert_eq!(error_codes(source), ["VG0102", "VG0204"]);
    }

    #[test]
    fn an_error_page_without_advice_is_found() {
        let page = "# VG0101: unknown agent\n## What it means\n";
        assert_eq!(missing_parts("VG0101", page), ["VG0101.md lacks `## What to do`"]);
    }
}
