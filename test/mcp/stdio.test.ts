import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject } from '../../src/core/index.ts';
import { systemClock } from '../../src/net/index.ts';
import { openMcpToolset, type McpToolset } from '../../src/tools/mcp/index.ts';
import { callTool } from './call-tool.ts';
import { firstLine } from './first-line.ts';
import { killableServer } from './real-servers.ts';

const smallServer = join(import.meta.dirname, 'small-server.ts');

/**
 * Opens the test server over stdio. It reports its process id and environment, and exits or hangs
 * on request.
 */
async function openSmall(
  more: Partial<Parameters<typeof openMcpToolset>[0]> = {},
): Promise<McpToolset> {
  return openMcpToolset({
    name: 'small',
    command: process.execPath,
    args: [smallServer],
    env: { GIVEN: 'yes' },
    protocol: 'legacy',
    ...more,
  });
}

async function about(set: McpToolset): Promise<{ pid: number; env: object; cancelled: unknown }> {
  const info = await callTool(set, 'about');
  assert.ok(isJsonObject(info) && typeof info['pid'] === 'number');
  return { pid: info['pid'], env: Object(info['env']), cancelled: info['cancelled'] };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function waitForExit(pid: number): Promise<void> {
  while (isAlive(pid)) await sleep(10);
}

describe('a stdio server', { concurrency: true }, () => {
  it('gets only the configured and basic environment variables, and ends with its toolset', async () => {
    process.env['PETRICHOR_TEST_SECRET'] = 'not for others';
    const set = await openSmall();
    const { pid, env } = await about(set);
    assert.equal(Reflect.get(env, 'GIVEN'), 'yes');
    const allowed = ['GIVEN', 'HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
    assert.deepEqual(
      Object.keys(env).filter((name) => !allowed.includes(name)),
      [],
    );
    await set.close();
    await waitForExit(pid);
  });

  it('exits during a call: the call fails, and the server is restarted for the next call', async () => {
    const warnings: string[] = [];
    await using set = await openSmall({ onWarning: (message) => warnings.push(message) });
    const { pid } = await about(set);
    await assert.rejects(callTool(set, 'exit'), {
      code: 'mcp_connection_lost',
      message: /may have been processed/,
    });
    await waitForExit(pid);
    const restarted = await about(set);
    assert.notEqual(restarted.pid, pid);
    assert.match(warnings.join(), /disconnected/);
  });

  it('is notified of a cancelled call, and notifies the client of new tools', async () => {
    await using set = await openSmall();
    const stop = new AbortController();
    const progress = (text: string): void => stop.abort(new Error(text));
    await assert.rejects(callTool(set, 'hang', {}, { signal: stop.signal, progress }), /hanging/);
    assert.equal((await about(set)).cancelled, 1);

    const changed = Promise.withResolvers<void>();
    set.onChange(changed.resolve);
    await callTool(set, 'grow');
    await changed.promise;
    assert.equal(await callTool(set, 'later'), 'here');
  });

  it('has its protocol detected by a short-lived process', async () => {
    await using set = await openSmall({ protocol: 'auto', connectTimeoutMs: 120_000 });
    assert.equal(set.protocolVersion(), '2026-07-28');
    assert.equal(typeof (await about(set)).pid, 'number');
    const changed = Promise.withResolvers<void>();
    set.onChange(changed.resolve);
    await callTool(set, 'grow');
    await changed.promise;
    await using legacySet = await openSmall({ protocol: 'legacy' });
    assert.match(legacySet.protocolVersion() ?? '', /^2025-/);
  });

  it('is killed during a call: the call fails, and the server is restarted for the next call', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'petrichor-mcp-'));
    const { pid, program } = killableServer('everything', join(folder, 'pid'));
    await using set = await openMcpToolset({ ...program, name: 'everything', protocol: 'legacy' });
    const started = Promise.withResolvers<void>();
    const call = callTool(
      set,
      'trigger-long-running-operation',
      { duration: 60, steps: 600 },
      { progress: () => started.resolve() },
    );
    await started.promise;
    process.kill(await pid(), 'SIGKILL');
    await assert.rejects(call, { code: 'mcp_connection_lost' });
    assert.equal(await callTool(set, 'echo', { message: 'again' }), 'Echo: again');
    await rm(folder, { recursive: true });
  });

  it('ignores the closed pipe: it is killed', async () => {
    const set = await openSmall({ env: { STUBBORN: 'yes' } });
    const { pid } = await about(set);
    const startedAt = systemClock.now();
    await set.close();
    await waitForExit(pid);
    assert.ok(
      systemClock.now() - startedAt >= 1000,
      'the server is asked to end before it is killed',
    );
  });

  it('ends when its parent process is killed', async () => {
    const program = join(import.meta.dirname, 'opening-process.ts');
    const parent = spawn(process.execPath, [program, smallServer], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = Number(await firstLine(parent));
    assert.ok(isAlive(pid));
    parent.kill('SIGKILL');
    await waitForExit(pid);
  });

  it('cannot be started: the error contains its stderr', async () => {
    const broken = { args: ['--eval', 'console.error("no such key"); process.exit(1)'] };
    await assert.rejects(openSmall(broken), {
      code: 'mcp_unreachable',
      message: /"small" cannot be reached.*no such key/,
    });
    await assert.rejects(openSmall({ command: '/nowhere/mcp-server' }), {
      code: 'mcp_unreachable',
      message: /ENOENT/,
    });
  });
});
