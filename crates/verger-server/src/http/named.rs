//! Names in addresses.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use verger_api::{FieldError, HttpError, Problem};

use super::{App, Refusal};

/// The longest name in an address, in bytes: that of a breaker whose parts are as long as they may be.
const NAME_MAX: usize = 2_048;

/// The name in an address. What cannot be anybody's is refused before it is looked for.
pub(super) struct Named(pub(super) String);

impl FromRequestParts<App> for Named {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Refusal> {
        let wrong = |why: &str| Refusal::http(HttpError::WrongQuery, why);
        let path = Path::<String>::from_request_parts(parts, app).await;
        let Path(name) = path.map_err(|_| wrong("the name in the address is not valid UTF-8"))?;
        match flaw(&name, NAME_MAX) {
            Some(flaw) => Err(wrong(&format!("the name in the address {flaw}"))),
            None => Ok(Self(name)),
        }
    }
}

/// A name in a body, where agents and tasks have theirs.
pub(super) fn checked(field: &str, name: &str, limits: &verger_api::ingest::Limits) -> Result<(), Refusal> {
    flaw(name, limits.name_bytes).map_or(Ok(()), |flaw| Err(wrong_field(field, &flaw)))
}

/// What people and agents write, which is kept and shown: not without end, and without credentials.
pub(super) fn kept_text(
    field: &str,
    text: &str,
    limits: &verger_api::ingest::Limits,
) -> Result<String, Refusal> {
    if limits.text_bytes < text.len() {
        return Err(wrong_field(field, &format!("must not have more than {} bytes", limits.text_bytes)));
    }
    Ok(verger_api::redact(text).into_owned())
}

/// A field of a body is not what it should be.
pub(super) fn wrong_field(field: &str, detail: &str) -> Refusal {
    wrong_fields(vec![FieldError { field: field.to_owned(), detail: detail.to_owned() }])
}

/// Several are.
pub(super) fn wrong_fields(errors: Vec<FieldError>) -> Refusal {
    let text: Vec<String> =
        errors.iter().map(|error| format!("`{}`: {}", error.field, error.detail)).collect();
    Refusal::from(Problem::http(HttpError::WrongField, text.join("; ")).with_errors(errors))
}

/// Why something cannot be a name: control characters would end up on terminals and in logs.
fn flaw(name: &str, bytes_max: usize) -> Option<String> {
    if name.is_empty() {
        return Some("must not be empty".to_owned());
    }
    if bytes_max < name.len() {
        return Some(format!("must not have more than {bytes_max} bytes"));
    }
    name.chars().any(char::is_control).then(|| "must not contain control characters".to_owned())
}
