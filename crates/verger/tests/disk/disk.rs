//! Disks of a test's own.

use std::cell::Cell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A file system in a mount namespace that a process of ours holds open. It is gone when that ends, and that ends with
/// the test, however the test ends.
pub(crate) struct Disk {
    holder: Child,
    at: PathBuf,
    is_frozen: Cell<bool>,
}

impl Disk {
    /// In memory, and small. Needs no rights.
    pub(crate) fn small(folder: &Path, megabytes: u32) -> Result<Self, String> {
        Self::mount(folder, &format!("mount -t tmpfs -o size={megabytes}m,mode=700 verger-test"))
    }

    /// On a block device, which can be frozen. Needs root.
    pub(crate) fn freezable(folder: &Path) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root may mount and freeze a block device".to_owned());
        }
        let image = folder.join("disk.img");
        let file = fs::File::create(&image).map_err(|error| error.to_string())?;
        file.set_len(96 << 20).map_err(|error| error.to_string())?;
        let made = Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image).output();
        let made = made.map_err(|error| format!("mkfs.ext4: {error}"))?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).into_owned());
        }
        Self::mount(folder, &format!("mount -o loop,errors=remount-ro {}", image.display()))
    }

    /// Has the kernel find an error in it, and make it read-only, as it does with a disk that fails.
    pub(crate) fn break_down(&self) {
        let script = format!(
            "echo broken > /sys/fs/ext4/$(basename $(findmnt -no SOURCE '{}'))/trigger_fs_error",
            self.at.display()
        );
        self.run(&script);
    }

    /// What a person does about it, when nobody uses it any more.
    pub(crate) fn check_and_mount_again(&self) {
        let image = self.at.with_file_name("disk.img");
        let (at, image) = (self.at.display(), image.display());
        // It mends what it can, and says by its code that it did.
        self.run(&format!(
            "umount '{at}' && {{ e2fsck -p '{image}' || [ $? = 1 ]; }} && mount -o loop '{image}' '{at}'"
        ));
    }

    fn run(&self, script: &str) {
        let output = self.enter("sh").args(["-c", script]).output().expect("a shell");
        assert!(output.status.success(), "{script}: {output:?}");
    }

    fn mount(folder: &Path, mount: &str) -> Result<Self, String> {
        let at = folder.join("disk");
        fs::create_dir(&at).map_err(|error| error.to_string())?;
        // Reads until whoever started it is gone.
        let script = format!("{mount} {} && echo mounted && exec cat", at.display());
        let mut command = Command::new("unshare");
        if !rustix::process::geteuid().is_root() {
            command.args(["--user", "--map-root-user"]);
        }
        command.args(["--mount", "sh", "-c", &script]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut holder = command.spawn().map_err(|error| format!("unshare: {error}"))?;
        let mut said = String::new();
        let output = holder.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut said).map_err(|error| error.to_string())?;
        if said.trim() != "mounted" {
            let output = holder.wait_with_output().map_err(|error| error.to_string())?;
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(Self { holder, at, is_frozen: Cell::new(false) })
    }

    /// Where it is for those who [enter](Self::enter).
    pub(crate) fn inside(&self) -> &Path {
        &self.at
    }

    /// Where it is for everybody else.
    pub(crate) fn outside(&self) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(self.at.strip_prefix("/").expect("it is absolute"))
    }

    /// Runs a program to which it is mounted.
    pub(crate) fn enter(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.holder.id().to_string(), "--mount"]);
        if !rustix::process::geteuid().is_root() {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.args(["--", program]);
        command
    }

    /// Leaves no room at all.
    pub(crate) fn fill(&self) {
        let mut filler = fs::File::create(self.outside().join("filler")).expect("it can be made");
        for size in [1 << 16, 1 << 9, 1] {
            while filler.write_all(&vec![7; size]).is_ok() {}
        }
    }

    /// Makes room again.
    pub(crate) fn free(&self) {
        fs::remove_file(self.outside().join("filler")).expect("it is there");
    }

    /// Whoever writes waits from now on.
    pub(crate) fn freeze(&self) {
        self.is_frozen.set(true);
        assert!(self.fsfreeze("--freeze"), "it can be frozen");
    }

    pub(crate) fn thaw(&self) {
        assert!(self.fsfreeze("--unfreeze"), "it can be thawed");
        self.is_frozen.set(false);
    }

    fn fsfreeze(&self, what: &str) -> bool {
        let status = self.enter("fsfreeze").arg(what).arg(&self.at).status();
        status.is_ok_and(|status| status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Nobody could end who waits for it.
        if self.is_frozen.get() {
            self.fsfreeze("--unfreeze");
        }
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// What programs are told when they write, as on a disk that was mounted again for reading only: a tracer answers in the
/// kernel's place. A real one cannot be had without rights over the machine while files on it are open.
pub(crate) struct ReadOnly {
    tracer: Child,
}

impl ReadOnly {
    /// For this process, from now on.
    pub(crate) fn begin(pid: u32) -> Result<Self, String> {
        let mut command = Command::new("strace");
        command.args(["-f", "-p", &pid.to_string(), "-e", "trace=pwrite64,fdatasync,fsync,ftruncate"]);
        command.args(["-e", "inject=pwrite64,fdatasync,fsync,ftruncate:error=EROFS", "-o", "/dev/null"]);
        let mut tracer =
            command.stderr(Stdio::piped()).spawn().map_err(|error| format!("strace: {error}"))?;
        let mut said = String::new();
        let mut output = BufReader::new(tracer.stderr.take().expect("it is piped"));
        while !said.contains(" attached") {
            let before = said.len();
            if output.read_line(&mut said).map_err(|error| error.to_string())? == 0 || said.len() == before {
                return Err(said);
            }
        }
        // It says more with each thread that begins, and must not wait for anybody to read it.
        std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        Ok(Self { tracer })
    }

    /// The disk is mounted for writing again.
    pub(crate) fn end(self) {
        drop(self);
    }
}

impl Drop for ReadOnly {
    /// Told to end, and not killed, it leaves the process as it was.
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.tracer);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        let _ = self.tracer.wait();
    }
}
