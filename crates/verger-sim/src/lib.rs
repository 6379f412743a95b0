//! Seeded worlds that drive the production engine with a virtual clock.
