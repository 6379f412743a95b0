//! A map that forgets: it holds at least the last so many things, and at most twice as many.
//!
//! Two halves; when the younger is full the older goes. So keeping and forgetting cost nothing but the map.

use std::collections::HashMap;
use std::hash::Hash;

/// The map.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    half: usize,
}

impl<K: Hash + Eq, V> Recent<K, V> {
    pub(crate) fn new(half: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), half }
    }

    /// Keeps a thing. Answers how many were forgotten for it.
    pub(crate) fn put(&mut self, key: K, value: V) -> usize {
        self.old.remove(&key);
        let mut forgotten = 0;
        if self.young.len() >= self.half && !self.young.contains_key(&key) {
            forgotten = self.old.len();
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
        forgotten
    }

    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    pub(crate) fn take(&mut self, key: &K) -> Option<V> {
        self.young.remove(key).or_else(|| self.old.remove(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_are_kept_and_the_rest_is_counted() {
        let mut recent = Recent::new(2);
        let forgotten: usize = (0..10).map(|number| recent.put(number, ())).sum();
        let kept: Vec<i32> = (0..10).filter(|number| recent.get(number).is_some()).collect();
        assert_eq!(kept, [6, 7, 8, 9]);
        assert_eq!(forgotten, 6);
        assert!(recent.take(&8).is_some() && recent.get(&8).is_none());
    }

    #[test]
    fn what_is_put_again_is_there_once() {
        let mut recent = Recent::new(2);
        for number in [1, 2, 1, 3, 1] {
            recent.put(number, number);
        }
        assert_eq!(recent.take(&1), Some(1));
        assert_eq!(recent.take(&1), None);
    }
}
