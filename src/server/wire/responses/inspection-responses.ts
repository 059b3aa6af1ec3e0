import * as v from 'valibot';
import { component, field } from '../component.ts';
import type { WireSchema } from '../component.ts';
import { count, jsonObject, page } from './response-parts.ts';

const at = field('Epoch milliseconds.', v.number());
const token = v.object({
  id: field('`<record>.<index>`: the record that added the token.', v.string()),
  at,
  value: field('The value, or its shape. Absent with `values=none`.', v.exactOptional(v.unknown())),
  due: field(
    'When each timed transition may take the token, in epoch milliseconds.',
    v.exactOptional(v.record(v.string(), v.number())),
  ),
});
const placeTokens: WireSchema<'PlaceTokens'> = component(
  'PlaceTokens',
  'Tokens of one place. `tokens` is absent with `values=none`.',
  v.object({ place: v.string(), count, tokens: v.exactOptional(v.array(token)) }),
);
const numbers = v.array(count);

const sessionRecord: WireSchema<'SessionRecord'> = component(
  'SessionRecord',
  'One record of the journal of a session.',
  v.object({
    record: count,
    step: field('The settled step. Its records were committed together.', count),
    at,
    kind: v.picklist([
      'injected',
      'fired',
      'started',
      'ended',
      'retrying',
      'restarted',
      'faulted',
      'discarded',
      'upgraded',
      'owned',
      'loaded',
      'trimmed',
    ]),
    transition: v.exactOptional(v.string()),
    firing: field('The record that started the firing.', v.exactOptional(count)),
    outcome: v.exactOptional(v.picklist(['ok', 'failed', 'timeout', 'cancelled', 'unknown'])),
    attempt: v.exactOptional(count),
    cause: v.exactOptional(v.picklist(['retry', 'crash'])),
    due_at: v.exactOptional(at),
    timeout_at: v.exactOptional(at),
    error_code: v.exactOptional(v.string()),
    net_hash: v.exactOptional(v.string()),
    aborted: field('Firings that the record ended.', v.exactOptional(numbers)),
    taken: v.array(placeTokens),
    reset: v.exactOptional(v.array(placeTokens)),
    given: v.array(placeTokens),
    lists: v.exactOptional(
      v.array(
        v.object({
          place: v.string(),
          change: v.picklist(['append', 'replacePrefix', 'truncate']),
          length: count,
          added: count,
          items: v.exactOptional(v.array(v.unknown())),
        }),
      ),
    ),
    maps: v.exactOptional(
      v.array(v.object({ place: v.string(), count, writes: v.exactOptional(jsonObject) })),
    ),
    stored: field(
      'The record for `applyRecord` of `petrichor/journal`. Only with `values=full`. Texts of failures are replaced.',
      v.exactOptional(jsonObject),
    ),
  }),
);

/** One record of a stream of records. */
export const streamedRecord: WireSchema<'SessionRecord'> = sessionRecord;

/** A page of records. */
export const sessionRecordPage: WireSchema<'SessionRecordPage'> = page(
  'SessionRecordPage',
  sessionRecord,
);

/** The marking of a session after a record. */
export const sessionMarking: WireSchema<'SessionMarking'> = component(
  'SessionMarking',
  'The tokens of a session and its effects in flight, after a record.',
  v.object({
    record: count,
    step: count,
    at,
    net_hash: v.string(),
    places: v.record(
      v.string(),
      v.object({
        kind: v.picklist(['tokens', 'list', 'map']),
        count,
        tokens: v.exactOptional(v.array(token)),
        items: v.exactOptional(v.array(v.unknown())),
        entries: v.exactOptional(jsonObject),
      }),
    ),
    firings: v.array(
      v.object({
        firing: count,
        transition: v.string(),
        started_at: at,
        attempt: count,
        crashes: count,
        timeout_at: at,
        retry_at: v.exactOptional(at),
        inputs: v.array(placeTokens),
      }),
    ),
    encoded: field(
      'The marking for `decodeMarking` of `petrichor/journal`. Only with `values=full`. Texts of failures are replaced.',
      v.exactOptional(jsonObject),
    ),
  }),
);

const position = v.object({ x: v.number(), y: v.number() });
const milliseconds = v.union([v.number(), v.literal('computed')]);

/** The net of a session's agent. */
export const sessionNet: WireSchema<'SessionNet'> = component(
  'SessionNet',
  'A net as data. `computed`: a function computes the value from the tokens.',
  v.object({
    name: v.string(),
    hash: v.string(),
    places: v.array(
      v.object({
        name: v.string(),
        kind: v.picklist(['tokens', 'list', 'map', 'outlet', 'running']),
        schema: field('JSON Schema of the values.', v.exactOptional(jsonObject)),
        version: v.exactOptional(v.number()),
        port: v.exactOptional(v.picklist(['in', 'out', 'both'])),
        environment: field('Tokens may be injected from outside.', v.boolean()),
        owed: field('Each of its tokens must be answered.', v.boolean()),
        initial: count,
      }),
    ),
    transitions: v.array(
      v.object({
        name: v.string(),
        kind: v.picklist(['pure', 'effect']),
        arcs: v.array(
          v.object({
            kind: v.picklist(['take', 'read', 'inhibitor', 'reset', 'give']),
            place: v.string(),
            key: v.exactOptional(v.string()),
            weight: v.exactOptional(
              v.object({ min: count, max: field('Null: no limit.', v.nullable(count)) }),
            ),
            matching: v.exactOptional(v.literal(true)),
            alternative: v.exactOptional(v.string()),
            write: v.exactOptional(
              v.picklist(['token', 'append', 'replacePrefix', 'truncate', 'put']),
            ),
          }),
        ),
        priority: v.number(),
        after_ms: v.exactOptional(milliseconds),
        concurrency: v.exactOptional(v.number()),
        timeout_ms: v.exactOptional(milliseconds),
        retry: v.exactOptional(v.object({ attempts: count, backoff: v.string() })),
        on_crash: v.exactOptional(v.picklist(['rerun', 'unknown', 'computed'])),
      }),
    ),
    subnets: v.array(
      v.object({
        path: field('Its name, after the names of the subnets around it.', v.array(v.string())),
        transitions: v.array(v.string()),
      }),
    ),
    layout: v.object({
      engine: field(
        '`columns`: the column of a node is its distance from where tokens enter. `graphviz`: with lines and boxes.',
        v.picklist(['columns', 'graphviz']),
      ),
      width: v.number(),
      height: v.number(),
      places: v.record(v.string(), position),
      transitions: v.record(v.string(), position),
      edges: field(
        'The lines, as cubic Bézier curves: the first point, and then two control points and the end of each curve.',
        v.exactOptional(
          v.array(
            v.object({
              from: field('`p:PLACE` or `t:TRANSITION`.', v.string()),
              to: v.string(),
              kind: v.picklist(['flow', 'both', 'read', 'inhibitor', 'reset', 'running']),
              label: v.string(),
              points: v.array(position),
              start_tip: v.exactOptional(position),
              end_tip: v.exactOptional(position),
            }),
          ),
        ),
      ),
      subnets: field(
        'The boxes of the subnets.',
        v.exactOptional(
          v.array(
            v.object({
              path: v.array(v.string()),
              x: v.number(),
              y: v.number(),
              width: v.number(),
              height: v.number(),
            }),
          ),
        ),
      ),
    }),
  }),
);

/** The request of a model call. */
export const sessionModelRequest: WireSchema<'SessionModelRequest'> = component(
  'SessionModelRequest',
  'The request of a model call, rebuilt from the journal.',
  v.object({
    firing: count,
    transition: v.string(),
    step: count,
    at,
    model: v.string(),
    net_changed: v.boolean(),
    request: jsonObject,
    may_differ: field(
      'The parts that are not in the journal, and where they come from now.',
      v.array(
        v.object({
          part: v.picklist(['instruction', 'tools', 'contents', 'config']),
          source: v.picklist(['definition', 'function', 'artifact']),
        }),
      ),
    ),
  }),
);

/** A page of fork points. */
export const forkPointPage: WireSchema<'ForkPointPage'> = page(
  'ForkPointPage',
  component(
    'ForkPoint',
    'A position of the log that fork accepts as `up_to_seq`.',
    v.object({ up_to_seq: count, step: count, record: count, at }),
  ),
);
