import { agent, tool } from '../../src/index.ts';
import type { Agent } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import type { ScriptedTurn } from '../../src/testing/index.ts';

const wait = async (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

const search = tool({
  name: 'search_flights',
  description: 'Lists flights between two cities on a day.',
  readOnly: true,
  parameters: {
    type: 'object',
    properties: { from: { type: 'string' }, to: { type: 'string' }, day: { type: 'string' } },
    required: ['from', 'to', 'day'],
  },
  execute: () => ({
    flights: [
      { id: 'LH 2036', departs: '07:15', price: 129 },
      { id: 'LH 2042', departs: '13:40', price: 89 },
    ],
  }),
});

const book = tool({
  name: 'book_flight',
  description: 'Books a seat. It costs money.',
  needsApproval: true,
  parameters: {
    type: 'object',
    properties: { flight: { type: 'string' }, seat: { type: 'string' } },
    required: ['flight', 'seat'],
  },
  execute: () => ({ booking: 'PNR-4F7K2', state: 'confirmed' }),
});

const invoice = tool({
  name: 'print_invoice',
  description: 'Writes the invoice. It takes a while.',
  readOnly: true,
  execute: async (_args, { signal }) => {
    await wait(Number(process.env['INVOICE_MS'] ?? 3000), signal);
    return { file: 'invoice-4F7K2.pdf' };
  },
});

function respond(text: string, answered: number): ScriptedTurn {
  if (/hello|hi\b/i.test(text))
    return { thinking: 'A greeting.', text: 'Hello! Where would you like to fly?' };
  if (/refund/i.test(text))
    return { text: 'A refund takes **three days**. I have told the *accounts* team.' };
  switch (answered) {
    case 0:
      return {
        text: 'I look for flights.',
        toolCalls: [
          { name: 'search_flights', args: { from: 'Munich', to: 'Berlin', day: '2026-12-01' } },
        ],
      };
    case 1:
      return {
        text: 'Two flights match:\n\n| flight | departs | price |\n|---|---|---|\n| LH 2036 | 07:15 | 129 EUR |\n| LH 2042 | 13:40 | **89 EUR** |\n\nI book the cheaper one.',
        toolCalls: [{ name: 'book_flight', args: { flight: 'LH 2042', seat: '12A' } }],
      };
    case 2:
      return { text: 'It is booked. I print the invoice.', toolCalls: [{ name: 'print_invoice' }] };
    default:
      return {
        text: 'Your flight **LH 2042** is booked, seat 12A. The invoice is `invoice-4F7K2.pdf`.\n\n1. Be at the gate by 13:10.\n2. One bag is included.',
        deltas: 40,
        deltaDelayMs: Number(process.env['DELTA_MS'] ?? 10),
      };
  }
}

const model = new ScriptedModel(({ contents }) => {
  const last = contents.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.some((part) => 'text' in part),
  );
  const text = (contents[last]?.parts ?? [])
    .map((part) => ('text' in part ? part.text : ''))
    .join('');
  const answered = contents.slice(last).filter(({ role }) => role === 'model').length;
  const inputTokens = 320 + answered * 140;
  const outputTokens = 24 + answered * 11;
  return {
    ...respond(text, answered),
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
  };
});

export const travel: Agent = agent({
  name: 'travel',
  description: 'Finds and books flights.',
  instruction: 'You book flights. Ask before you spend money.',
  model,
  tools: [search, book, invoice],
});
