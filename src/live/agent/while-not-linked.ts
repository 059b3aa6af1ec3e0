import { net } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { linkCalled } from '../vocabulary/link-places.ts';

/** The model step of text turns, for a session without a call: during a call its live models answer. */
export function whileNotLinked(modelStep: Net): Net {
  return net(modelStep.name, {
    in: { ...modelStep.in, linkCalled },
    out: modelStep.out,
    transitions: modelStep.transitions.map((t) =>
      t.name === 'model.call' ? { ...t, unless: [...t.unless, linkCalled] } : t,
    ),
  });
}
