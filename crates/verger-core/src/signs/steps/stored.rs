//! How things were when the ring of steps went round, as bytes.

use super::{Label, Steps};
use crate::record::{Damaged, Stored};
use crate::stuck::Detector;

impl Stored for Steps {
    fn put(&self, row: &mut Vec<u8>) {
        let Self {
            detector,
            // It follows from what the detector remembers.
            judgement: _,
            excused,
            next,
            last,
            labels,
            stretch,
            began,
            changes,
            // These are rows of their own, or will be.
            unsaved: _,
            before: _,
        } = self;
        detector.put(row);
        excused.put(row);
        next.put(row);
        last.put(row);
        labels.put(row);
        stretch.put(row);
        began.put(row);
        changes.put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        let detector: Option<Box<Detector>> = Stored::take(row)?;
        Ok(Self {
            judgement: detector.as_ref().map(|detector| detector.judgement()).unwrap_or_default(),
            detector,
            excused: Stored::take(row)?,
            next: Stored::take(row)?,
            last: Stored::take(row)?,
            labels: Stored::take(row)?,
            stretch: Stored::take(row)?,
            began: Stored::take(row)?,
            changes: Stored::take(row)?,
            unsaved: Vec::new(),
            before: None,
        })
    }
}

impl Stored for Label {
    fn put(&self, row: &mut Vec<u8>) {
        let Self { number, at, tool } = self;
        number.put(row);
        at.put(row);
        tool.put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Ok(Self { number: Stored::take(row)?, at: Stored::take(row)?, tool: Stored::take(row)? })
    }
}
