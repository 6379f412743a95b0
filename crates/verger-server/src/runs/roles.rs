//! Roles under which `verger run --restart` is watched: as another, but that what fails is brought back (L28).

use verger_core::policy::{Policies, RestartPolicy, Role};

/// How the name of such a role ends.
const RESTART: &str = "+restart";

/// Gives every role a twin of its name with `+restart`, unless somebody configured one.
pub(crate) fn add_twins(policies: &mut Policies) {
    let mut roles = Vec::new();
    policies.each(|role| roles.push(role.clone()));
    let names: Vec<String> = roles.iter().map(|role| role.name.as_str().to_owned()).collect();
    for role in roles.into_iter().filter(|role| !role.name.as_str().ends_with(RESTART)) {
        let name = format!("{}{RESTART}", role.name.as_str());
        if !names.contains(&name) {
            // Who has configured more roles than fit has no twins for the last of them, and is watched by the default.
            policies.set(Role { name: name.as_str().into(), restart: RestartPolicy::Recover, ..role });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l28_each_role_has_a_twin_that_is_brought_back_and_keeps_all_else() {
        let mut policies = Policies::default();
        add_twins(&mut policies);
        add_twins(&mut policies);
        let (plain, twin) =
            (policies.role(Some(&"critical".into())), policies.role(Some(&"critical+restart".into())));
        assert_eq!((plain.restart, twin.restart), (RestartPolicy::Escalate, RestartPolicy::Recover));
        assert_eq!((plain.mode, &plain.liveness), (twin.mode, &twin.liveness));
        let mut count = 0;
        policies.each(|_| count += 1);
        assert_eq!(count, 10, "once is enough");
    }
}
