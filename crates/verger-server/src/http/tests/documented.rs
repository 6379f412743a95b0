//! `/openapi.json` against what is really served.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Served;

const METHODS: [&str; 5] = ["get", "post", "put", "delete", "patch"];

/// Every operation of a document, as path, method and what is said of it.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().expect("paths");
    let of = |(path, item): (&String, &Value)| {
        let methods = item.as_object().expect("operations").clone();
        let path = path.clone();
        methods.into_iter().map(move |(method, operation)| (path.clone(), method, operation))
    };
    paths.iter().flat_map(of).collect()
}

/// All places to which a document refers.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(ToOwned::to_owned));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn l50_every_address_that_is_described_is_served_and_by_no_other_method() {
    let served = Served::new().await;
    let document = served.as_nobody("GET /openapi.json", "").await.body;
    let described = operations(&document);
    let paths: BTreeSet<&String> = described.iter().map(|(path, _, _)| path).collect();
    for path in paths {
        for method in METHODS {
            let is_described = described.iter().any(|(other, by, _)| other == path && by == method);
            // Below breakers one handler takes every name.
            if !is_described && path.starts_with("/v1/breakers/") {
                continue;
            }
            let address = path.replace("{id}", "x").replace("{name}", "x/tool/y");
            let request = format!("{} {address}", method.to_uppercase());
            let bearer = format!("Bearer {}", served.admin);
            // A stream without an end is asked so that it is refused.
            let headers = [("Authorization", bearer.as_str()), ("Last-Event-ID", "x")];
            let got = served.send(&request, &headers, "").await;
            let detail = got.body["detail"].as_str().unwrap_or_default();
            assert_eq!(got.status != 405, is_described, "{request}: {}", got.body);
            assert!(!detail.contains("nothing is served"), "{request}: {}", got.body);
        }
    }
    served.started.stop();
}

#[tokio::test]
async fn l50_the_description_is_whole() {
    let served = Served::new().await;
    let document = served.as_nobody("GET /openapi.json", "").await.body;
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    for reference in &found {
        let place = reference.strip_prefix('#').expect("a place in this document");
        assert!(document.pointer(place).is_some(), "{reference} leads nowhere");
    }
    let mut names = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let what = format!("{method} {path}");
        assert!(names.insert(operation["operationId"].to_string()), "{what}: its name is taken");
        let answers = operation["responses"].as_object().expect("answers");
        assert!(answers.keys().any(|status| status.starts_with('2')), "{what} never answers");
        let in_path: Vec<&Value> = operation["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|one| one["in"] == "path")
            .collect();
        assert_eq!(in_path.len(), path.matches('{').count(), "{what}: {in_path:?}");
        let is_open = operation["security"] == json!([{}]);
        assert!(is_open || answers.contains_key("401"), "{what}");
        for (status, answer) in answers.iter().filter(|(status, _)| status.starts_with('4')) {
            let schema = &answer["content"]["application/problem+json"]["schema"]["$ref"];
            assert_eq!(schema, "#/components/schemas/Problem", "{what} {status}");
        }
    }
    served.started.stop();
}

#[tokio::test]
async fn l50_who_may_do_it_is_described_as_it_is() {
    let served = Served::new().await;
    let document = served.as_nobody("GET /openapi.json", "").await.body;
    let read = served.token("read", None).await;
    for (path, method, operation) in operations(&document) {
        let address = path.replace("{id}", "x").replace("{name}", "x/tool/y");
        let request = format!("{} {address}", method.to_uppercase());
        let is_open = operation["security"] == json!([{}]);
        let got = served.send(&request, &[("Last-Event-ID", "x")], "").await;
        assert_eq!(got.status == 401, !is_open, "{request} without a token: {} {}", got.status, got.body);
        let headers = [("Authorization", "Bearer nobodys"), ("Last-Event-ID", "x")];
        let got = served.send(&request, &headers, "").await;
        let is_described = operation["responses"].get(got.status.to_string()).is_some();
        assert!(is_described, "{request} with a token that is none: {} {}", got.status, got.body);
        let scopes = operation["security"][0]["bearer"].as_array().cloned().unwrap_or_default();
        let bearer = format!("Bearer {read}");
        let got = served.send(&request, &[("Authorization", &bearer), ("Last-Event-ID", "x")], "").await;
        let may_read = is_open || scopes.contains(&json!("read"));
        assert_eq!(got.status != 403, may_read, "{request} with a reader's: {} {}", got.status, got.body);
    }
    served.started.stop();
}
