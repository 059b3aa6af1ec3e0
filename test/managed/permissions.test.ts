import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countingTool, deployTool, openManagedFixture } from './managed-fixture.ts';
import type { ManagedFixture, ManagedFixtureOptions } from './managed-fixture.ts';

const calls = [
  { toolCalls: [{ name: 'delete_file', args: { path: 'a.txt' } }] },
  { text: 'As you say.' },
];

function withPolicy(policy: object | undefined): ManagedFixtureOptions & {
  readonly ran: readonly unknown[];
} {
  const remove = countingTool('delete_file');
  const keep = countingTool('keep_file');
  return {
    ran: remove.ran,
    tools: [remove, keep],
    definition: {
      tools: [
        { type: 'builtin', name: 'delete_file' },
        { type: 'builtin', name: 'keep_file' },
      ],
      ...(policy !== undefined && { permission_policy: policy }),
    },
  };
}

async function waitForApproval(on: ManagedFixture): Promise<string> {
  await on.send('Delete it');
  await on.until('turn.waiting');
  const [call] = await on.runtime.pending(on.id);
  assert.equal(call?.needs, 'approval');
  return call.callId;
}

const shownToModel = (on: ManagedFixture): string =>
  JSON.stringify(on.model.requests.at(-1)?.contents);

test('a tool that needs no approval runs', async () => {
  const policies = [
    undefined,
    { default: 'auto_approve' },
    { default: 'prompt', tools: { delete_file: 'auto_approve' } },
  ];
  for (const policy of policies) {
    const { ran, ...options } = withPolicy(policy);
    await using on = await openManagedFixture(calls, options);
    await on.send('Delete it');
    await on.until('turn.ended');
    assert.equal(ran.length, 1);
  }
});

for (const policy of [
  { default: 'prompt' },
  { default: 'auto_approve', tools: { delete_file: 'prompt' } },
]) {
  test(`with the policy ${JSON.stringify(policy)} a call waits, and runs once when it is approved`, async () => {
    const { ran, ...options } = withPolicy(policy);
    await using on = await openManagedFixture(calls, options);
    const id = await waitForApproval(on);
    assert.equal(ran.length, 0);
    await on.runtime.sendEvent(on.id, {
      type: 'user.tool_confirmation',
      tool_use_id: id,
      result: 'allow',
    });
    const log = await on.until('turn.ended');
    assert.equal(ran.length, 1);
    const call = log.find((event) => event.type === 'tool.call');
    assert.deepEqual([call?.permission, call?.origin], ['ask', { kind: 'builtin' }]);
    const secondConfirmation = on.runtime.sendEvent(on.id, {
      type: 'user.tool_confirmation',
      tool_use_id: id,
      result: 'allow',
    });
    await assert.rejects(secondConfirmation, { code: 'already_answered' });
  });
}

test('a denied call does not run, and the model gets the reason', async () => {
  const { ran, ...options } = withPolicy({ default: 'prompt' });
  await using on = await openManagedFixture(calls, options);
  await on.runtime.sendEvent(on.id, {
    type: 'user.tool_confirmation',
    toolUseId: await waitForApproval(on),
    result: 'deny',
    denyMessage: 'That is the only copy.',
  });
  await on.until('turn.ended');
  assert.equal(ran.length, 0);
  assert.match(shownToModel(on), /That is the only copy/);
});

for (const policy of [
  { default: 'deny' },
  { default: 'auto_approve', tools: { delete_file: 'deny' } },
]) {
  test(`with the policy ${JSON.stringify(policy)} a tool is not offered to the model, and a call of it is refused`, async () => {
    const { ran, ...options } = withPolicy(policy);
    await using on = await openManagedFixture(calls, options);
    await on.send('Delete it');
    const log = await on.until('turn.ended');
    assert.equal(ran.length, 0);
    const offered = on.model.requests[0]?.tools.map(({ name }) => name);
    assert.deepEqual(offered, policy.default === 'deny' ? [] : ['keep_file']);
    const call = log.find((event) => event.type === 'tool.call');
    assert.equal(call?.permission, 'deny');
    assert.match(shownToModel(on), /"code":"denied"/);
  });
}

test('a custom tool that needs approval waits for the approval and then for its result', async () => {
  await using on = await openManagedFixture(
    [{ toolCalls: [{ name: 'deploy', args: { target: 'prod' } }] }, { text: 'Done.' }],
    { definition: { tools: [deployTool], permission_policy: { default: 'prompt' } } },
  );
  const id = await waitForApproval(on);
  const prematureResult = on.runtime.sendEvent(on.id, {
    type: 'user.custom_tool_result',
    custom_tool_use_id: id,
    content: [],
  });
  await assert.rejects(prematureResult, { code: 'invalid_input' });
  const { length } = await on.log();
  await on.runtime.sendEvent(on.id, {
    type: 'user.tool_confirmation',
    tool_use_id: id,
    result: 'allow',
  });
  await on.until('turn.waiting', length);
  await on.runtime.sendEvent(on.id, {
    type: 'user.custom_tool_result',
    custom_tool_use_id: id,
    content: [{ type: 'text', text: 'deployed' }],
  });
  await on.until('turn.ended');
  assert.match(shownToModel(on), /deployed/);
});

/** The tools of `withPolicy`, of which `delete_file` asks for approval itself. */
function withOwnApproval(policy: object): ReturnType<typeof withPolicy> {
  const options = withPolicy(policy);
  const tools = (options.tools ?? []).map((one) =>
    one.name === 'delete_file' ? { ...one, needsApproval: true } : one,
  );
  return { ...options, tools };
}

for (const policy of [
  { default: 'auto_approve' },
  { default: 'auto_approve', tools: { keep_file: 'deny' } },
  { type: 'always_allow' },
]) {
  test(`the policy ${JSON.stringify(policy)} does not lift the approval that a tool asks for itself`, async () => {
    const { ran, ...options } = withOwnApproval(policy);
    await using on = await openManagedFixture(calls, options);
    await waitForApproval(on);
    assert.equal(ran.length, 0);
  });
}

test('a rule for the tool itself lifts the approval that it asks for', async () => {
  const { ran, ...options } = withOwnApproval({
    default: 'prompt',
    tools: { delete_file: 'auto_approve' },
  });
  await using on = await openManagedFixture(calls, options);
  await on.send('Delete it');
  await on.until('turn.ended');
  assert.equal(ran.length, 1);
});
