import * as v from 'valibot';
import { PROOF_STATUSES } from '../proof-status.ts';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { count, page, time } from './response-parts.ts';

const proofBounds: WireSchema<'ProofBounds'> = component(
  'ProofBounds',
  'The bounds of a proof. Everything else is unbounded: the order of events, and the declared outcomes.',
  v.object({
    messages: field('The number of user messages.', count),
    at_once: field('The most tool calls of one answer, and further model calls of a turn.', count),
    faults: field('How often the code of a transition may fail.', count),
    shutdowns: field('Whether the owner may shut down at any time.', v.boolean()),
    states: field('The search gives up after this many states.', count),
  }),
);

/** The default properties of an agent, and how to write others. */
export const agentProperties: WireSchema<'AgentProperties'> = component(
  'AgentProperties',
  'The default properties of an agent, and how to write others.',
  v.object({
    agent_id: v.string(),
    net_hash: v.string(),
    properties: v.array(
      v.object({
        name: field('Names the property in a request.', v.string()),
        title: field('What the property states, as results name it.', v.string()),
        text: v.string(),
        kind: v.string(),
      }),
    ),
    forms: field(
      'All forms of a property.',
      v.array(
        v.object({
          kind: v.string(),
          text: field('How it is written, with placeholders in capitals.', v.string()),
          states: field('What it states.', v.string()),
        }),
      ),
    ),
    bounds: proofBounds,
  }),
);

const counts = v.record(v.string(), count);

const proofTrace: WireSchema<'ProofTrace'> = component(
  'ProofTrace',
  'A counterexample: steps from the initial marking to one that violates the property. It was replayed on the executor. The same as `trace` of `petrichor prove --json`.',
  v.object({
    steps: v.array(
      v.object({
        kind: field(
          '`injected`: a token comes from outside. `fired`: a transition without effect fires. `started`, `settled` and others: those of a firing with an effect, as in the journal.',
          v.string(),
        ),
        transition: v.exactOptional(v.string()),
        alternative: field('The name of the outcome.', v.exactOptional(v.string())),
        gives: field('The numbers of added tokens by place.', counts),
      }),
    ),
    markings: field(
      'The numbers of tokens by place: initially, then after each step. So it has one more item than `steps`.',
      v.array(counts),
    ),
    marking: field('The numbers of tokens by place after the last step.', counts),
    circleFrom: field(
      'The index of the first step of a cycle, which can repeat forever.',
      v.exactOptional(count),
    ),
    circleTo: field('The index after the last step of the cycle.', v.exactOptional(count)),
  }),
);

const proofResult: WireSchema<'ProofResult'> = component(
  'ProofResult',
  'The verdict for one property.',
  v.object({
    name: v.string(),
    kind: v.string(),
    text: v.string(),
    verdict: v.picklist(['proved', 'refuted', 'unknown']),
    by: field('The method that decided it.', v.string()),
    over: field('The bounds within which the verdict holds.', v.array(v.string())),
    states: field('Number of states visited.', count),
    duration_ms: v.number(),
    unreached: field(
      'For `proved`: transitions that the exploration did not fire, so the property is proved for the rest of the net.',
      v.array(v.string()),
    ),
    reason: field('For `unknown`: why it was not decided.', v.nullable(v.string())),
    trace: field('For `refuted`: the counterexample.', v.nullable(proofTrace)),
    test: field(
      'For `refuted`: the text of a test file beside the module. The test fails while the property is refuted.',
      v.exactOptional(v.string()),
    ),
  }),
);

/** A proof. */
export const proofResponse: WireSchema<'Proof'> = component(
  'Proof',
  'A proof of properties of the net of an agent.',
  v.object({
    type: v.literal('proof'),
    id: v.string(),
    agent_id: v.string(),
    net_hash: field(
      'The hash of the net that is proved. Null until the proof has loaded it.',
      v.nullable(v.string()),
    ),
    status: field(
      '`interrupted`: the server ended before the proof did. Start it again.',
      v.picklist(PROOF_STATUSES),
    ),
    properties: field('The names of the properties.', v.array(v.string())),
    bounds: proofBounds,
    states: field('Number of states visited by the present or last search.', count),
    results: field('One for each decided property.', v.array(proofResult)),
    report: field(
      'Set when the proof is done.',
      v.nullable(
        v.object({
          net_hash: v.string(),
          places: count,
          transitions: count,
          duration_ms: v.number(),
          excluded: field('Transitions that the bounds exclude.', v.array(v.string())),
          unfired: field('Transitions that no explored run fires.', v.array(v.string())),
          assumptions: field('What the proofs take for granted.', v.array(v.string())),
          broken_rules: field('Rules of agents that the arcs break.', v.array(v.string())),
        }),
      ),
    ),
    error: field('Why it failed.', v.nullable(v.object({ code: v.string(), message: v.string() }))),
    created_at: time,
    ended_at: v.nullable(time),
  }),
);

/** A page of proofs, newest first. */
export const proofPage: WireSchema<'ProofPage'> = page('ProofPage', proofResponse);

/** An event of the stream of a proof. */
export const proofChange: WireSchema<'ProofChange'> = component(
  'ProofChange',
  'A change of a proof. `proof.state`: the stream begins. `proof.ended`: the last one.',
  v.variant('type', [
    v.object({ type: v.literal('proof.state'), proof: proofResponse }),
    v.object({
      type: v.literal('proof.progress'),
      states: count,
      properties: field(
        'The names of the properties that the search decides.',
        v.array(v.string()),
      ),
    }),
    v.object({ type: v.literal('proof.result'), result: proofResult }),
    v.object({ type: v.literal('proof.ended'), proof: proofResponse }),
  ]),
);
