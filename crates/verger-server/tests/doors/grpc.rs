//! `grpc.health.v1`, asked by a real client.

use tonic::transport::Channel;
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::served::Served;

async fn channel(served: &Served) -> Channel {
    let endpoint = Channel::from_shared(format!("http://{}", served.address)).expect("an address");
    endpoint.connect().await.expect("it is served")
}

async fn client(served: &Served) -> HealthClient<Channel> {
    HealthClient::new(channel(served).await)
}

fn about(service: &str, token: Option<&str>) -> Request<HealthCheckRequest> {
    let mut request = Request::new(HealthCheckRequest { service: service.to_owned() });
    if let Some(token) = token {
        let bearer = format!("Bearer {token}").parse().expect("plain text");
        request.metadata_mut().insert("authorization", bearer);
    }
    request
}

async fn check(served: &Served, service: &str, token: Option<&str>) -> Result<ServingStatus, Code> {
    let answer = client(served).await.check(about(service, token)).await;
    answer.map(|answer| answer.into_inner().status()).map_err(|status: Status| status.code())
}

#[tokio::test]
async fn h09_the_monitors_health_is_anybodys_and_an_agents_is_for_who_may_see_it() {
    let served = Served::new().await;
    served.beat("a").await;
    let (agent, other) =
        (served.token("agent", Some("a"), false).await, served.token("agent", Some("b"), false).await);
    assert_eq!(check(&served, "", None).await, Ok(ServingStatus::Serving));
    assert_eq!(check(&served, "a", Some(&served.admin)).await, Ok(ServingStatus::Serving));
    assert_eq!(check(&served, "a", Some(&agent)).await, Ok(ServingStatus::Serving));
    assert_eq!(check(&served, "a", None).await, Err(Code::Unauthenticated));
    assert_eq!(check(&served, "a", Some("vgt_wrong")).await, Err(Code::Unauthenticated));
    assert_eq!(check(&served, "a", Some(&other)).await, Err(Code::PermissionDenied));
    assert_eq!(check(&served, "nobody", Some(&served.admin)).await, Err(Code::NotFound));
    served.started.stop();
}

#[tokio::test]
async fn h09_who_watches_is_told_of_an_agent_that_comes_and_ends() {
    let served = Served::new().await;
    let mut watch =
        client(&served).await.watch(about("a", Some(&served.admin))).await.expect("a stream").into_inner();
    let mut next = async || watch.message().await.expect("it goes on").expect("it does not end").status();
    assert_eq!(next().await, ServingStatus::ServiceUnknown, "it is waited for");
    served.beat("a").await;
    assert_eq!(next().await, ServingStatus::Serving);
    let token = served.token("agent", Some("a"), false).await;
    let exit = r#"{"kind":"exit","agentId":"a","code":0}"#;
    let got = served.bearer(&token, "POST /v1/signals", exit).await;
    assert_eq!(got.body["accepted"], 1, "{}", got.text);
    assert_eq!(next().await, ServingStatus::NotServing);
    served.started.stop();
}

/// The parts of the protocol that the client's library does not have yet.
#[derive(Clone, PartialEq, prost::Message)]
struct Listed {
    #[prost(btree_map = "string, message", tag = "1")]
    statuses: std::collections::BTreeMap<String, tonic_health::pb::HealthCheckResponse>,
}

#[tokio::test]
async fn h09_all_agents_are_listed_with_the_monitor() {
    let served = Served::new().await;
    served.beat("a").await;
    served.beat("b").await;
    let mut grpc = tonic::client::Grpc::new(channel(&served).await);
    grpc.ready().await.expect("it is");
    let codec = tonic_prost::ProstCodec::<HealthCheckRequest, Listed>::default();
    let path = "/grpc.health.v1.Health/List".parse().expect("a path");
    let listed = grpc.unary(about("", Some(&served.admin)), path, codec).await.expect("they are listed");
    let statuses: Vec<(String, ServingStatus)> =
        listed.into_inner().statuses.into_iter().map(|(name, found)| (name, found.status())).collect();
    let expected = ["", "a", "b"].map(|name| (name.to_owned(), ServingStatus::Serving));
    assert_eq!(statuses, expected);
    served.started.stop();
}
