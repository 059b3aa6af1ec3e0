import { workflow } from '../../../src/agents/index.ts';
import type { Agent } from '../../../src/agents/index.ts';

/** Reviews an expensive order only. The join needs the review of every order. */
export const planted: Agent = workflow({
  name: 'orders',
  nodes: [
    { kind: 'function', name: 'read', run: () => 'order' },
    { kind: 'function', name: 'check', run: () => 'in stock' },
    { kind: 'function', name: 'review', run: () => 'fine' },
    { kind: 'join', name: 'both' },
    { kind: 'function', name: 'ship', run: () => 'shipped' },
  ],
  edges: [
    { from: 'START', to: 'read' },
    { from: 'read', to: 'check' },
    { from: 'read', to: 'review', route: 'expensive' },
    { from: 'check', to: 'both' },
    { from: 'review', to: 'both' },
    { from: 'both', to: 'ship' },
  ],
});
