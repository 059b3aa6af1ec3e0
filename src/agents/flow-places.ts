import * as v from 'valibot';
import { place } from '../net/index.ts';
import type { TokenPlace } from '../net/index.ts';
import type { CustomReply } from './custom-runs.ts';
import type { ModelCall } from './places.ts';

/** How often a loop may still begin again. */
export const loopBudget: TokenPlace<null> = place('loop.budget');

/** Where a custom agent stands: after so many yields, and what it got back for them. */
export interface CustomStep extends ModelCall {
  /** Names the run: the same over crashes. */
  readonly activation: string;
  readonly yielded: number;
  readonly replies: readonly (CustomReply | null)[];
}

const stepSchema: v.GenericSchema<unknown, CustomStep> = v.custom<CustomStep>(
  (value) => typeof value === 'object' && value !== null && 'activation' in value,
  'must be a step of a custom agent',
);

/** A custom agent that goes on to its next yield. */
export const customStep: TokenPlace<CustomStep> = place('custom.step', stepSchema, { version: 1 });

/** A custom agent that waits for one of its agents. */
export const customWaiting: TokenPlace<CustomStep> = place('custom.waiting', stepSchema, {
  version: 1,
});

/** How often a custom agent may still yield. */
export const customBudget: TokenPlace<null> = place('custom.budget');
