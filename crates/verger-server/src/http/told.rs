//! What is said of one operation in `/openapi.json`.

use utoipa::IntoParams;
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Content, Header, Ref, RefOr, Required, Response, ResponseBuilder, Schema};
use verger_api::PROBLEM_JSON;

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";
const STREAM: &str = "text/event-stream";

/// Who may do it, as in the table of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Everybody on this machine.
    Anybody,
    /// The agent itself, whoever may read, and the admin.
    AgentOrReader,
    /// The agent itself, and the admin.
    Agent,
    /// Whoever may read, and the admin.
    Reader,
    /// The admin.
    Admin,
}

impl Who {
    /// The scopes of tokens that will do; none if no token is needed.
    fn scopes(self) -> &'static [&'static str] {
        match self {
            Self::Anybody => &[],
            Self::AgentOrReader => &["agent", "read", "admin"],
            Self::Agent => &["agent", "admin"],
            Self::Reader => &["read", "admin"],
            Self::Admin => &["admin"],
        }
    }
}

/// What is said of one operation. Types are named as `verger_api::openapi` names them.
pub(super) struct Told {
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
    who: Who,
    parameters: Vec<Parameter>,
    body: Option<RequestBody>,
    answers: Vec<(u16, Response)>,
    refusals: Vec<u16>,
}

impl Told {
    /// Its name for generated clients, what it belongs to, and what it does.
    pub(super) fn new(id: &'static str, tag: &'static str, summary: &'static str, who: Who) -> Self {
        let (parameters, answers) = (Vec::new(), Vec::new());
        // A page from elsewhere and a rebound name are turned away everywhere.
        // Anybody may send a head that is too large, and whoever shows a token may ask too often.
        let refusals = if who == Who::Anybody { vec![403, 429, 431] } else { vec![401, 403, 429, 431] };
        Self { id, tag, summary, who, parameters, body: None, answers, refusals }
    }

    /// With these parameters in its query.
    pub(super) fn query<Q: IntoParams>(mut self) -> Self {
        self.parameters.extend(Q::into_params(|| Some(ParameterIn::Query)));
        self.refuses(400)
    }

    /// With this header, if it is sent.
    pub(super) fn header(mut self, name: &str, about: &str) -> Self {
        let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Header);
        let parameter = parameter.description(Some(about)).schema(Some(text())).required(Required::False);
        self.parameters.push(parameter.build());
        self.refuses(400)
    }

    /// With a body of this type.
    pub(super) fn body(mut self, schema: &str) -> Self {
        self.body = Some(RequestBodyBuilder::new().content(JSON, content(schema)).build());
        self.refuses(400).refuses(413).refuses(422)
    }

    /// With one of these, a list of them, or one on each line.
    pub(super) fn batch(mut self, schema: &str) -> Self {
        let many = ArrayBuilder::new().items(Ref::from_schema_name(schema));
        let either = OneOfBuilder::new().item(Ref::from_schema_name(schema)).item(many);
        let either = Content::new(Some(Schema::OneOf(either.build())));
        let body = RequestBodyBuilder::new().content(JSON, either).content(NDJSON, content(schema));
        self.body = Some(body.required(Some(Required::True)).build());
        self.refuses(400).refuses(413).refuses(422)
    }

    /// Answers with this type.
    pub(super) fn answers(mut self, status: u16, about: &str, schema: &str) -> Self {
        let response = ResponseBuilder::new().description(about).content(JSON, content(schema));
        self.answers.push((status, response.build()));
        self
    }

    /// With a body that is any object.
    pub(super) fn body_object(mut self) -> Self {
        let object: RefOr<Schema> = ObjectBuilder::new().into();
        self.body = Some(RequestBodyBuilder::new().content(JSON, Content::new(Some(object))).build());
        self.refuses(400).refuses(413).refuses(422)
    }

    /// Answers with a text of this kind.
    pub(super) fn answers_text(mut self, about: &str, media: &str) -> Self {
        let response = ResponseBuilder::new().description(about).content(media, Content::new(Some(text())));
        self.answers.push((200, response.build()));
        self
    }

    /// Answers with any object.
    pub(super) fn answers_object(mut self, status: u16, about: &str) -> Self {
        let object: RefOr<Schema> = ObjectBuilder::new().into();
        let response = ResponseBuilder::new().description(about).content(JSON, Content::new(Some(object)));
        self.answers.push((status, response.build()));
        self
    }

    /// Answers with nothing.
    pub(super) fn answers_nothing(mut self, about: &str) -> Self {
        self.answers.push((204, ResponseBuilder::new().description(about).build()));
        self
    }

    /// Answers with a stream that does not end by itself.
    pub(super) fn streams(mut self, about: &str) -> Self {
        let response = ResponseBuilder::new().description(about).content(STREAM, Content::new(Some(text())));
        self.answers.push((200, response.build()));
        self
    }

    /// May also be refused with this status.
    pub(super) fn refuses(mut self, status: u16) -> Self {
        if !self.refusals.contains(&status) {
            self.refusals.push(status);
        }
        self
    }

    /// All of it, for this address.
    pub(super) fn operation(self, path: &str) -> Operation {
        let named = names(path);
        let mut told = if named.is_empty() { self } else { self.refuses(400).refuses(404) };
        told = told.refuses(500);
        let answered: Vec<u16> = told.answers.iter().map(|(status, _)| *status).collect();
        if !answered.contains(&503) {
            told = told.refuses(503);
        }
        let mut operation = OperationBuilder::new()
            .operation_id(Some(told.id))
            .tag(told.tag)
            .summary(Some(told.summary))
            .parameters(Some(named.into_iter().map(named_in_path).chain(told.parameters)))
            .request_body(told.body);
        for (status, response) in told.answers {
            operation = operation.response(status.to_string(), response);
        }
        told.refusals.sort_unstable();
        for status in told.refusals {
            operation = operation.response(status.to_string(), problem(status));
        }
        let security = match told.who {
            Who::Anybody => vec![SecurityRequirement::default()],
            who => vec![SecurityRequirement::new("bearer", who.scopes().iter().copied())],
        };
        operation.securities(Some(security)).build()
    }
}

/// The names in a path, as `id` in `/v1/agents/{id}`.
fn names(path: &str) -> Vec<&str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
}

fn named_in_path(name: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some("Its name. What is special in addresses is percent-encoded."))
        .schema(Some(text()))
        .build()
}

fn text() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).into()
}

fn content(schema: &str) -> Content {
    Content::new(Some(Ref::from_schema_name(schema)))
}

/// Why it was refused.
fn problem(status: u16) -> Response {
    let about = match status {
        400 => "It cannot be understood.",
        401 => "A token is needed, or this one is not valid.",
        403 => "This token may not do that.",
        404 => "There is no such thing.",
        409 => "It does not fit how things stand.",
        413 => "The body is too large.",
        422 => "A field is missing or wrong.",
        429 => "A limit holds it back.",
        431 => "The head is too large.",
        503 => "Not now.",
        _ => "A fault of the monitor.",
    };
    let response = ResponseBuilder::new().description(about).content(PROBLEM_JSON, content("Problem"));
    if status == 503 || status == 429 {
        let seconds = ObjectBuilder::new().schema_type(Type::Integer);
        return response.header("Retry-After", Header::new(seconds)).build();
    }
    response.build()
}
