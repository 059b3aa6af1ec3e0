import { agent, type Agent, type Json, type Model } from 'petrichor';
import { NodeEvent, START, workflow } from 'petrichor/agents';
import { demoModel } from './demo-model.ts';

/** What the workflow looks invoices up in. A test passes its own. */
export interface Ledger {
  amount(invoice: string): Promise<number>;
  paid(invoice: string): Promise<boolean>;
}

/**
 * Answers a message. One that names an invoice is answered from the ledger: the amount and the payment are looked up
 * concurrently, and a join waits for both. An agent answers any other.
 */
export function deskWorkflow(model: Model | string, ledger: Ledger): Agent {
  const support = agent({ name: 'support', model, instruction: 'Answer the question. Be brief.' });
  return workflow({
    name: 'desk',
    nodes: [
      { kind: 'function', name: 'classify', run: (_, message) => classify(String(message)) },
      { kind: 'function', name: 'amount', run: (_, invoice) => ledger.amount(String(invoice)) },
      { kind: 'function', name: 'paid', run: (_, invoice) => ledger.paid(String(invoice)) },
      { kind: 'join', name: 'both' },
      { kind: 'function', name: 'report', run: (_, both) => report(both) },
      { kind: 'agent', name: 'support', agent: support },
    ],
    edges: [
      { from: START, to: 'classify' },
      { from: 'classify', to: 'amount', route: 'billing' },
      { from: 'classify', to: 'paid', route: 'billing' },
      { from: 'classify', to: 'support', route: 'other' },
      { from: 'amount', to: 'both' },
      { from: 'paid', to: 'both' },
      { from: 'both', to: 'report' },
    ],
  });
}

function classify(message: string): NodeEvent {
  const invoice = /invoice (?<number>\d+)/i.exec(message)?.groups?.['number'];
  return invoice === undefined
    ? new NodeEvent({ output: message, route: 'other' })
    : new NodeEvent({ output: invoice, route: 'billing' });
}

function report(both: Json): string {
  const { amount, paid } = both as { readonly amount: number; readonly paid: boolean };
  return `${amount} cents, ${paid ? 'paid' : 'open'}.`;
}

/** A ledger in memory: invoices with an even number are paid. */
export const demoLedger: Ledger = {
  amount: async (invoice) => Number(invoice) * 100,
  paid: async (invoice) => Number(invoice) % 2 === 0,
};

// MODEL=gpt-5 npm start, after npm install @ai-sdk/openai and with OPENAI_API_KEY set
export default deskWorkflow(process.env['MODEL'] ?? demoModel(), demoLedger);
