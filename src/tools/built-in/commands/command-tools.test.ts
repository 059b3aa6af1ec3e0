import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it, test } from 'node:test';
import { callTool, getErrorCode } from '../../../../test/tools/call-tool.ts';
import { noSandboxReason, sandboxFolder } from '../../../../test/tools/sandbox-folder.ts';
import { bubblewrap } from '../../sandbox/bubblewrap.ts';
import { withoutSandbox } from '../../sandbox/without-sandbox.ts';
import { bashTool } from './bash-tool.ts';
import { codeExecutionTool } from './code-execution-tool.ts';

// Before any test is registered, because registered tests would end and clean up during this wait.
const noSandbox = await noSandboxReason();

const folder = sandboxFolder('commands');
after(() => folder[Symbol.dispose]());
const environment = { folder: folder.path, env: { NAME: 'rain' } };
const tools = { bash: bashTool, code_execution: codeExecutionTool };
const args = {
  bash: { command: 'touch escaped' },
  code_execution: { language: 'python', code: 'open("escaped", "w")' },
};

for (const name of ['bash', 'code_execution'] as const) {
  const make = tools[name];

  test(`${name} runs nothing without a sandbox, and says what to install`, async () => {
    const tool = make({ environment, sandbox: bubblewrap({ bwrap: '/nowhere/bwrap' }) });
    const answer = await callTool(tool, args[name]);
    assert.equal(getErrorCode(answer), 'sandbox_unavailable');
    assert.match(JSON.stringify(answer.response), /apt-get install bubblewrap/);
    assert.ok(!existsSync(join(folder.path, 'escaped')));
  });

  test(`${name} rejects a sandbox that isolates nothing`, () => {
    assert.throws(() => make({ environment, sandbox: withoutSandbox() }), {
      code: 'invalid_tool',
      message: /unsandboxed: true/,
    });
  });

  test(`${name} runs without a sandbox only on request, and then needs approval`, async () => {
    const tool = make({ environment, unsandboxed: true });
    assert.equal(tool.needsApproval, true);
    assert.equal(
      make({ environment, unsandboxed: true, needsApproval: false }).needsApproval,
      false,
    );
    const { response } = await callTool(
      tool,
      name === 'bash'
        ? { command: 'echo $NAME; pwd' }
        : { language: 'javascript', code: 'console.log(process.env.NAME + "\\n" + process.cwd())' },
    );
    assert.deepEqual(response, { stdout: `rain\n${folder.path}\n`, stderr: '', exit_code: 0 });
  });

  test(`${name} has an unknown outcome after a crash, and needs no approval in a sandbox`, () => {
    const { onCrash, readOnly, idempotent, needsApproval, timeoutMs } = make({
      environment,
      limits: { timeMs: 5_000 },
    });
    assert.deepEqual(
      [onCrash, readOnly, idempotent, needsApproval],
      ['unknown', false, false, false],
    );
    assert.ok(timeoutMs > 5_000);
  });
}

describe('in the sandbox', { skip: noSandbox }, () => {
  const bash = bashTool({ environment, limits: { timeMs: 20_000, outputBytes: 2_000 } });
  const code = codeExecutionTool({ environment });

  it('bash keeps the files of the folder between calls, and no other state', async () => {
    const first = await callTool(bash, {
      command: 'echo "$NAME" > a.txt; export X=1; cd /; sleep 100 & exit 3',
    });
    assert.deepEqual(first.response, { stdout: '', stderr: '', exit_code: 3 });
    const second = await callTool(bash, { command: 'cat a.txt; pwd; echo "[$X]"; echo oh >&2' });
    assert.deepEqual(second.response, {
      stdout: 'rain\n/workspace\n[]\n',
      stderr: 'oh\n',
      exit_code: 0,
    });
    assert.equal(readFileSync(join(folder.path, 'a.txt'), 'utf8'), 'rain\n');
  });

  it('a command that exceeds its time limit is killed, and its output so far is returned', async () => {
    const killed = 'It reached its time limit and was killed with all its processes.';
    // On a busy machine the sandbox may need longer than a short limit before the command starts.
    for (const timeout_ms of [300, 3_000, 19_000]) {
      const command = 'echo so far; sleep 60';
      const { outcome, response } = await callTool(bash, { command, timeout_ms });
      assert.equal(outcome, 'ok');
      assert.equal(response['killed'], killed);
      if (response['stdout'] === '') continue;
      assert.deepEqual(response, { stdout: 'so far\n', stderr: '', killed });
      return;
    }
    assert.fail('no output before the longest limit');
  });

  it('a call cannot request more time than the limit', async () => {
    assert.equal((await callTool(bash, { command: 'true', timeout_ms: 20_001 })).outcome, 'error');
  });

  it('Python and JavaScript run, read and write the folder, and report their own errors', async () => {
    const python = await callTool(code, {
      language: 'python',
      code: 'import os\nopen("n.txt", "w").write(os.environ["NAME"])\nprint(6 * 7)',
    });
    assert.deepEqual(python.response, { stdout: '42\n', stderr: '', exit_code: 0 });
    const commonJs = await callTool(code, {
      language: 'javascript',
      code: 'console.log(require("fs").readFileSync("n.txt", "utf8"))',
    });
    assert.deepEqual(commonJs.response, { stdout: 'rain\n', stderr: '', exit_code: 0 });
    const version = await callTool(code, {
      language: 'javascript',
      code: 'process.stdout.write(process.versions.node)',
    });
    // The owner of the folder may be unable to run the current node; then the node of the system runs.
    if (Number.parseInt(String(version.response['stdout']), 10) >= 22) {
      const module = await callTool(code, {
        language: 'javascript',
        code: 'import { sep } from "node:path"; console.log(await sep)',
      });
      assert.equal(module.response['stdout'], '/\n');
    }
    const thrown = await callTool(code, {
      language: 'javascript',
      code: 'throw new Error("no rain")',
    });
    assert.equal(thrown.response['exit_code'], 1);
    assert.match(String(thrown.response['stderr']), /no rain/);
    assert.equal((await callTool(code, { language: 'ruby', code: 'p 1' })).outcome, 'error');
  });
});
