import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { agent, openRuntime } from '../../src/index.ts';
import type { LogEvent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { builtInTools, Environments } from '../../src/tools/built-in/index.ts';
import { processesWith } from './host-processes.ts';
import { noSandboxReason, sandboxFolder } from './sandbox-folder.ts';

// Awaited before any test is registered; otherwise registered tests would end and clean up during
// this wait.
const noSandbox = await noSandboxReason();

const finished = new Set(['turn.ended']);

describe('an agent with built-in tools', { skip: noSandbox }, () => {
  it('runs files and commands in the folder of its session', async () => {
    using root = sandboxFolder('agent');
    const environments = new Environments({ root: root.path });
    const assistant = agent({
      name: 'assistant',
      model: new ScriptedModel([
        { toolCalls: [{ name: 'write', args: { file_path: 'rain.py', content: 'print(6 * 7)' } }] },
        { toolCalls: [{ name: 'bash', args: { command: 'python3 rain.py | tee out.txt' } }] },
        { toolCalls: [{ name: 'read', args: { file_path: '/workspace/out.txt' } }] },
        { toolCalls: [{ name: 'read', args: { file_path: '../secret' } }] },
        { text: 'It is 42.' },
      ]),
      tools: builtInTools(['filesystem', 'bash'], {
        environment: (session) => environments.open(session, { env: { MOOD: 'wet' } }),
      }),
    });
    await using runtime = await openRuntime({ agents: [assistant], store: 'memory:' });
    const session = await runtime.session('one', { agent: 'assistant' });
    const results: LogEvent[] = [];
    for await (const event of session.send('How much is it?')) {
      if (event.type === 'tool.result') results.push(event);
    }
    const answers = results.map((event) =>
      event.type === 'tool.result' ? [event.outcome, event.response] : [],
    );
    assert.deepEqual(answers.slice(0, 3), [
      ['ok', { path: 'rain.py', bytes: 12 }],
      ['ok', { stdout: '42\n', stderr: '', exit_code: 0 }],
      ['ok', { content: '42', first_line: 1, last_line: 1, total_lines: 1 }],
    ]);
    assert.equal(answers[3]?.[0], 'error');
    assert.match(JSON.stringify(answers[3]), /path_refused/);
  });

  it('an interrupt kills the command and its child processes', async () => {
    using root = sandboxFolder('agent');
    const environments = new Environments({ root: root.path });
    const marker = `16180${Math.trunc(Math.random() * 1e9)}`;
    const assistant = agent({
      name: 'assistant',
      model: new ScriptedModel([
        {
          toolCalls: [
            { name: 'bash', args: { command: `setsid sleep ${marker}.1 & sleep ${marker}.2` } },
          ],
        },
        { text: 'Never mind.' },
      ]),
      tools: builtInTools(['bash'], { environment: (session) => environments.open(session) }),
    });
    await using runtime = await openRuntime({ agents: [assistant], store: 'memory:' });
    const session = await runtime.session('two', { agent: 'assistant' });
    const turn = session.send('Sleep.');
    const types: string[] = [];
    const reading = (async () => {
      for await (const { type } of turn) types.push(type);
    })();
    while (processesWith(`sleep ${marker}.2`).length === 0) await delay(5);
    await session.interrupt();
    await reading;
    assert.ok(types.some((type) => finished.has(type)));
    while (processesWith(marker).length > 0) await delay(10);
    assert.deepEqual(processesWith(marker), []);
  });
});
