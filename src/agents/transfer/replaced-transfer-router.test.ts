import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidInputError } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import { allOf, compose, join, pure } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { openRuntime } from '../../runtime/index.ts';
import { agent } from '../index.ts';
import { turnTransfer } from './transfer.ts';

const namedTransfer = { ...turnTransfer, name: 'turn.named-transfer' };

/** A transfer to the former name of an agent goes to the agent. */
const withFormerName = (stock: Net): Net =>
  compose('former-names', {
    in: stock.in,
    out: stock.out,
    nets: [stock],
    join: [join(namedTransfer, turnTransfer)],
    transitions: [
      pure('transfer.rename', {
        take: { transfer: turnTransfer },
        give: allOf({ transfer: namedTransfer }),
        run: ({ transfer }) => ({
          transfer: transfer.to === 'cashier' ? { ...transfer, to: 'billing' } : transfer,
        }),
      }),
    ],
  });

test('the transfer router is a subnet that can be replaced', async () => {
  const billing = agent({ name: 'billing', model: new ScriptedModel([{ text: 'Billing here.' }]) });
  const desk = agent({
    name: 'desk',
    model: new ScriptedModel([
      { toolCalls: [{ name: 'transfer_to_agent', args: { agent_name: 'cashier' } }] },
    ]),
    subAgents: [billing],
    subnets: ({ transferRouter }) => {
      assert.ok(transferRouter !== undefined);
      return { transferRouter: withFormerName(transferRouter) };
    },
  });
  await using runtime = await openRuntime({ agents: [desk], store: 'memory:' });
  const session = await runtime.session('s');
  assert.equal(await session.ask('I want to pay.'), 'Billing here.');
});

test('an agent that cannot transfer the turn has no transfer router', () => {
  const model = new ScriptedModel([]);
  const standIn = compose('none', { in: {}, out: {}, nets: [], transitions: [] });
  assert.throws(
    () => agent({ name: 'a', model, subnets: () => ({ transferRouter: standIn }) }),
    InvalidInputError,
  );
});
