import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { CommandFolder } from '../../../test/cli/command-folder.ts';

test('drain sends SIGTERM and waits until the process has ended', async () => {
  const server = spawn(process.execPath, [
    '-e',
    `process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1000); console.log('ready');`,
  ]);
  const ended = once(server, 'exit');
  try {
    await once(server.stdout, 'data');
    const { stdout } = await promisify(execFile)(process.execPath, [
      join(import.meta.dirname, '..', 'main.ts'),
      'drain',
      String(server.pid),
      '--timeout=30m',
      '--json',
    ]);
    assert.deepEqual(JSON.parse(stdout), { pid: server.pid, wasRunning: true, stopped: true });
    assert.deepEqual(await ended, [7, null]);
  } finally {
    server.kill('SIGKILL');
  }
});

test('drain fails for a process that still runs after the timeout, and for one that does not exist', async () => {
  const folder = new CommandFolder();
  const sent: unknown[] = [];
  const busy = folder.start(['drain', '12', '--timeout', '0'], {
    input: '',
    signalProcess: (pid, signal) => {
      sent.push([pid, signal]);
      return true;
    },
  });
  assert.equal(await busy.exit, 1);
  assert.match(busy.stdout.text, /still runs after 0\. Wait with a longer --timeout/);
  assert.deepEqual(sent[0], [12, 'SIGTERM']);
  const missing = await folder.run(['drain', '12']);
  assert.equal(missing.code, 1);
  assert.match(missing.stdout.text, /No process has the PID 12/);
});

test('drain takes a PID and a duration', async () => {
  const folder = new CommandFolder();
  for (const pid of ['x', '0', '-1', '1.5'])
    assert.equal((await folder.run(['drain', '--', pid])).code, 2, pid);
  const { code, stderr } = await folder.run(['drain', '12', '--timeout', 'long']);
  assert.equal(code, 2);
  assert.match(stderr.text, /--timeout must be 0 or a duration such as 90s/);
});
