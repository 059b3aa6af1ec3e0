import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { processesWith } from '../../../test/tools/host-processes.ts';
import { noSandboxReason, sandboxFolder } from '../../../test/tools/sandbox-folder.ts';
import { bubblewrap } from './bubblewrap.ts';
import type { SandboxCommand, SandboxResult } from './sandbox.ts';

// Before any test is registered, because registered tests would end and clean up during this wait.
const noSandbox = await noSandboxReason();

test('without bubblewrap nothing runs, and the error says what to install', async () => {
  using folder = sandboxFolder('none');
  const sandbox = bubblewrap({ bwrap: '/usr/bin/bwrap-that-is-not-there' });
  const refused = {
    code: 'sandbox_unavailable',
    message: /apt-get install bubblewrap.*unsandboxed: true/,
  };
  await assert.rejects(sandbox.check(), refused);
  const touch: SandboxCommand = { argv: ['touch', 'ran'], folder: folder.path };
  await assert.rejects(sandbox.run(touch), refused);
  assert.ok(!existsSync(join(folder.path, 'ran')));
});

test('a failure of bubblewrap itself runs nothing', async () => {
  using folder = sandboxFolder('false');
  const sandbox = bubblewrap({ bwrap: '/bin/false' });
  await assert.rejects(sandbox.check(), { code: 'sandbox_unavailable' });
  await assert.rejects(sandbox.run({ argv: ['true'], folder: folder.path }), {
    code: 'sandbox_unavailable',
  });
});

describe('a command under bubblewrap', { skip: noSandbox }, () => {
  const marker = `31337${Math.trunc(Math.random() * 1e9)}`;
  const folder = sandboxFolder('sandbox');
  const outside = mkdtempSync(join(tmpdir(), 'petrichor-outside-'));
  const secretFile = join(outside, 'secret.txt');
  const secret = `ESCAPED-${marker}`;
  const reached: string[] = [];
  const server = createServer((socket) => {
    reached.push('loopback');
    socket.end(secret);
  });
  const abstract = createServer((socket) => {
    reached.push('abstract');
    socket.end(secret);
  });
  const neighbour = spawn('sleep', ['600'], { stdio: 'ignore' });
  let port = 0;

  before(async () => {
    writeFileSync(secretFile, secret, { mode: 0o644 });
    symlinkSync(secretFile, join(folder.path, 'link-out'));
    symlinkSync(outside, join(folder.path, 'folder-out'));
    process.env['PETRICHOR_TEST_SECRET'] = secret;
    server.listen(0, '127.0.0.1');
    abstract.listen(`\0petrichor-${marker}`);
    await Promise.all([once(server, 'listening'), once(abstract, 'listening')]);
    const address = server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  after(() => {
    delete process.env['PETRICHOR_TEST_SECRET'];
    neighbour.kill('SIGKILL');
    server.close();
    abstract.close();
    folder[Symbol.dispose]();
    rmSync(outside, { recursive: true });
  });

  const run = (
    argv: SandboxCommand['argv'],
    more: Partial<SandboxCommand> = {},
  ): Promise<SandboxResult> => bubblewrap().run({ argv, folder: folder.path, ...more });
  const bash = (line: string, more: Partial<SandboxCommand> = {}): Promise<SandboxResult> =>
    run(['bash', '-c', line], more);

  it('works in its folder, which persists', async () => {
    await bash('echo rain > a.txt; mkdir -p sub; pwd');
    assert.equal(readFileSync(join(folder.path, 'a.txt'), 'utf8'), 'rain\n');
    const { stdout, exitCode } = await bash('cat a.txt; ls -d sub; exit 7');
    assert.deepEqual([stdout, exitCode], ['rain\nsub\n', 7]);
  });

  it('runs python3 and node, and reads stdin', async () => {
    const python = await run(['python3', '-'], { stdin: 'print(6 * 7)' });
    assert.deepEqual([python.stdout, python.exitCode], ['42\n', 0]);
    const node = await run(['node', '-'], { stdin: 'console.log(6 * 7)' });
    assert.deepEqual([node.stdout, node.exitCode], ['42\n', 0]);
  });

  it('has the variables of the call and a few defaults, and no others', async () => {
    const { stdout } = await run(['env', '-0'], {
      env: { NAME: `it's\n"$HOME" \`id\``, PATH: '/usr/bin' },
    });
    const names = stdout.split('\0').filter(Boolean);
    assert.ok(names.includes(`NAME=it's\n"$HOME" \`id\``));
    assert.ok(names.includes('PATH=/usr/bin'));
    assert.deepEqual(
      names.map((line) => line.replace(/=[^]*/, '')).toSorted((a, b) => a.localeCompare(b)),
      ['HOME', 'LANG', 'NAME', 'PATH', 'PWD', 'SHLVL', 'TERM'],
    );
  });

  // Each prints ESCAPED, or the secret, if it escapes; `ran` shows that it was executed.
  const escapes: readonly (readonly [what: string, line: () => string])[] = [
    ['read a file of the host', () => `cat ${secretFile}`],
    ['read it by a link that was in the folder', () => 'cat link-out folder-out/secret.txt'],
    ['read it by a path that climbs', () => `cat ../../../../../../..${secretFile}`],
    [
      'read it by /proc/self/root',
      () => `cat /proc/self/root${secretFile} /proc/1/root${secretFile}`,
    ],
    ['read it by the folder of another process', () => `cat /proc/*/cwd/../..${secretFile}`],
    [
      'read what the host keeps',
      () => 'ls /root /home /etc/shadow /etc/ssh /var /srv /boot && echo ESCAPED',
    ],
    ['read the variables of this process', () => 'env; cat /proc/*/environ | tr "\\0" "\\n"'],
    [
      'see or signal processes of the host',
      () =>
        `kill -0 ${neighbour.pid} && echo ESCAPED; ls /proc | grep -x ${neighbour.pid} && echo ESCAPED`,
    ],
    [
      'write to the system',
      () =>
        'for f in / /usr /usr/bin /etc /dev /opt /run /proc /sys; do touch $f/petrichor-x && echo ESCAPED $f; done',
    ],
    [
      'write over a program',
      () =>
        'for f in /bin/sh /usr/bin/env /opt/petrichor/bin/node; do echo x >> $f && echo ESCAPED; done',
    ],
    ['write beside its folder', () => `touch ../x ${outside}/x && echo ESCAPED`],
    [
      'make the system writable',
      () =>
        'mount -o remount,rw /usr && echo ESCAPED; mount -o remount,rw / && echo ESCAPED; mount -t tmpfs x /usr && echo ESCAPED; umount /workspace && echo ESCAPED',
    ],
    [
      'get new namespaces',
      () =>
        'unshare -U true && echo ESCAPED; unshare -Urm true && echo ESCAPED; unshare -n true && echo ESCAPED; nsenter -t 1 -m true && echo ESCAPED',
    ],
    [
      'have capabilities',
      () =>
        'grep -E "^Cap(Eff|Prm|Bnd|Amb|Inh):" /proc/self/status | grep -v 0000000000000000 && echo ESCAPED; grep -q "NoNewPrivs:.1" /proc/self/status || echo ESCAPED',
    ],
    [
      'become another user',
      () =>
        'su -c "echo ESCAPED" < /dev/null; sudo -n echo ESCAPED; setpriv --reuid 0 echo ESCAPED; chown 0 a.txt && echo ESCAPED',
    ],
    [
      'make a device',
      () =>
        'mknod disk b 8 0 && echo ESCAPED; mknod mem c 1 1 && echo ESCAPED; ls /dev/sd* /dev/vd* /dev/mem /dev/kmsg && echo ESCAPED',
    ],
    [
      'change the kernel',
      () =>
        'for f in kernel/core_pattern kernel/hostname vm/drop_caches; do echo 1 > /proc/sys/$f && echo ESCAPED; done; echo h > /proc/sysrq-trigger && echo ESCAPED',
    ],
    [
      'reach a server of this machine',
      () => `cat < /dev/tcp/127.0.0.1/${port}; cat < /dev/tcp/localhost/${port}`,
    ],
    [
      'reach it from python',
      () =>
        `python3 -c 'import socket; print(socket.create_connection(("127.0.0.1", ${port})).recv(99))'`,
    ],
    [
      'reach an abstract socket',
      () =>
        `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("\\0petrichor-${marker}"); print(s.recv(99))'`,
    ],
    [
      'have a network at all',
      () =>
        'grep -vE "^(Inter|.face| *lo):?" /proc/net/dev && echo ESCAPED; cat < /dev/tcp/1.1.1.1/80 && echo ESCAPED; cat < /dev/udp/169.254.169.254/80 && echo ESCAPED; getent hosts example.com && echo ESCAPED',
    ],
    [
      'send a packet from a raw socket',
      () =>
        `python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); print("ESCAPED")'`,
    ],
    [
      'read what this process has open',
      () =>
        `for f in /proc/self/fd/*; do case $f in *[3-9]|*[0-9][0-9]) [ -e $f ] && readlink $f | grep -v '^/proc/' && echo ESCAPED;; esac; done`,
    ],
    [
      'see the arguments of the sandbox',
      () => `tr '\\0' ' ' < /proc/1/cmdline | grep -E '[r]o-bind|[s]etenv' && echo ESCAPED`,
    ],
  ];

  for (const [what, line] of escapes) {
    it(`cannot ${what}`, async () => {
      const { stdout, stderr } = await bash(`${line()}\necho ran`);
      assert.match(stdout, /ran\n$/);
      assert.doesNotMatch(stdout + stderr.replaceAll(/line \d+:.*/g, ''), /ESCAPED/);
      assert.deepEqual(reached, []);
      assert.ok(!existsSync(join(outside, 'x')));
    });
  }

  it('cannot kill processes outside the sandbox', async () => {
    await bash('kill -9 $PPID; kill -9 1; kill -9 -1; sleep 0.1');
    assert.equal(neighbour.exitCode, null);
    assert.equal(neighbour.signalCode, null);
    assert.equal((await bash('echo on')).stdout, 'on\n');
  });

  it('cannot exceed its process limit, and a fork bomb ends with it', async () => {
    const bomb = `: ${marker}-bomb; b() { b | b & }; b 2>/dev/null; sleep 0.2; ls /proc | grep -c '^[0-9]'; sleep 60`;
    const { endedBy, stdout } = await bash(bomb, { limits: { processes: 24, timeMs: 800 } });
    assert.equal(endedBy, 'time limit');
    assert.ok(stdout === '' || Number(stdout) <= 26, stdout);
    assert.deepEqual(processesWith(`${marker}-bomb`), []);
  });

  it('is killed above its memory limit, in one process, in several, and in shared memory', async () => {
    // Only the memory limit ends it, however slow the machine is.
    const limits = { memoryBytes: 100 * 1024 * 1024, timeMs: 600_000 };
    const one = `x = bytearray(300_000_000)\nimport time; time.sleep(600)`;
    const many = `import os, time\nfor i in range(8): os.fork() == 0 and (bytearray(1), globals().update(x=bytearray(30_000_000)), time.sleep(600), os._exit(0))\ntime.sleep(600)`;
    const shared = `import mmap, time\nm = mmap.mmap(-1, 300_000_000)\nfor i in range(0, 300_000_000, 4096): m[i] = 1\ntime.sleep(600)`;
    const all = await Promise.all(
      [one, many, shared].map((stdin) => run(['python3', '-'], { stdin, limits })),
    );
    assert.deepEqual(
      all.map(({ endedBy, exitCode }) => [endedBy, exitCode]),
      [
        ['memory limit', null],
        ['memory limit', null],
        ['memory limit', null],
      ],
    );
    const vast = await run(['python3', '-'], { stdin: 'bytearray(2_000_000_000)', limits });
    assert.match(vast.stderr, /MemoryError/);
  });

  it('writes no file above its limit, and a limited amount outside its folder', async () => {
    const limits = { fileBytes: 1024 * 1024 };
    const { exitCode } = await bash('head -c 5000000 /dev/zero > big', { limits });
    assert.notEqual(exitCode, 0);
    assert.equal(statSync(join(folder.path, 'big')).size, limits.fileBytes);
    const { stdout } = await bash(
      'for d in /tmp /dev/shm; do head -c 90000000 /dev/zero > $d/x; stat -c %s $d/x; done',
    );
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((bytes) => Number(bytes) <= 64 * 1024 * 1024),
      [true, true],
    );
  });

  it('keeps the start and the end of long output', async () => {
    const { stdout, truncated, exitCode } = await bash(
      'echo first; yes | head -c 30000000; echo last',
      {
        limits: { outputBytes: 1_000 },
      },
    );
    assert.equal(exitCode, 0);
    assert.ok(truncated);
    assert.ok(stdout.length < 1_100);
    assert.match(stdout, /^first\n[^]*\n\[\d+ bytes left out\]\n[^]*\nlast\n$/);
  });

  it('leaves no process running at its end, at its time limit, or at an abort', async () => {
    const hide = (n: string): string =>
      `(setsid nohup sleep ${marker}.${n} > /dev/null 2>&1 &) ; sleep 0.05`;
    assert.equal((await bash(hide('1'))).endedBy, 'exit');
    // On a slow machine the first limits come before the output.
    for (let timeMs = 400, stdout = ''; stdout === ''; timeMs *= 2) {
      const late = await bash(
        `trap '' TERM INT HUP; ${hide('2')}; echo so far; sleep ${marker}.3`,
        {
          limits: { timeMs },
        },
      );
      ({ stdout } = late);
      assert.deepEqual([late.endedBy, late.exitCode], ['time limit', null]);
      assert.ok(['', 'so far\n'].includes(stdout), stdout);
      assert.deepEqual(processesWith(`sleep ${marker}`), []);
    }
    const reason = new Error('interrupted');
    const abort = new AbortController();
    const aborted = bash(`${hide('4')}; touch begun; sleep ${marker}.5`, { signal: abort.signal });
    while (!existsSync(join(folder.path, 'begun'))) await delay(5);
    abort.abort(reason);
    await assert.rejects(aborted, reason);
    assert.deepEqual(processesWith(`sleep ${marker}`), []);
  });

  it('does not start when it was aborted before', async () => {
    await assert.rejects(bash('touch never', { signal: AbortSignal.abort(new Error('no')) }), /no/);
    assert.ok(!existsSync(join(folder.path, 'never')));
  });

  it('leaves no process running when it is aborted at any moment of its start', async () => {
    const command = `setsid sleep ${marker}.6 & sleep ${marker}.7`;
    for (let ms = 0; ms < 30; ms += 1) {
      const abort = new AbortController();
      const running = bash(command, { signal: abort.signal });
      setTimeout(() => abort.abort(new Error('interrupted')), ms);
      await assert.rejects(running, /interrupted/);
      assert.deepEqual(processesWith(marker), [], `after ${ms} ms`);
    }
  });

  it('ends with the process that runs it, at any moment of its start and later', async () => {
    const script = join(dirname(fileURLToPath(import.meta.url)), 'bubblewrap.ts');
    const code = `import { bubblewrap } from ${JSON.stringify(script)};
      process.stdout.write('now');
      await bubblewrap().run({ argv: ['bash', '-c', 'setsid sleep ${marker}.8 & sleep ${marker}.9'], folder: ${JSON.stringify(folder.path)} });`;
    const killedWhen = async (isTime: () => Promise<unknown>): Promise<void> => {
      const runner = spawn(process.execPath, ['--input-type=module-typescript', '-'], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      runner.stdin.end(code);
      await once(runner.stdout, 'data');
      await isTime();
      runner.kill('SIGKILL');
      await once(runner, 'exit');
    };
    const untilGone = async (): Promise<void> => {
      // One of them may begin after a look that finds none. The next look finds it, so nothing is asserted of a moment.
      while (processesWith(marker).length > 0) await delay(10);
    };
    await Promise.all([0, 5, 10, 15, 25, 50].map((ms) => killedWhen(() => delay(ms))));
    await untilGone();
    await killedWhen(async () => {
      while (processesWith(`sleep ${marker}.8`).length < 2) await delay(10);
    });
    await untilGone();
  });

  it(
    'never runs as root: a folder of root is rejected',
    { skip: userInfo().uid !== 0 && 'not root' },
    async () => {
      const refused = { code: 'sandbox_unavailable', message: /root.*chown/ };
      await assert.rejects(run(['touch', 'x'], { folder: outside }), refused);
      assert.ok(!existsSync(join(outside, 'x')));
    },
  );

  it('has no network by default', async () => {
    const { stdout } = await bubblewrap({ network: true }).run({
      argv: ['bash', '-c', `cat < /dev/tcp/127.0.0.1/${port}`],
      folder: folder.path,
    });
    assert.equal(stdout, secret);
    assert.deepEqual(reached, ['loopback']);
  });
});
