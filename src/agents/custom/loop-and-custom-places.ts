import * as v from 'valibot';
import type { Json, Route } from '../../core/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import type { CustomReply } from './custom-generator.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';

/** How often a loop may still begin again. */
export const loopBudget: TokenPlace<null> = place('loop.budget');

/** Where a custom agent stands: after so many yields, and what it got back for them. */
export interface CustomStep extends ModelCall {
  /** Names the run: the same over crashes. */
  readonly activation: string;
  readonly yielded: number;
  readonly replies: readonly (CustomReply | null)[];
  /** It is done, or was when the agent it handed the turn to is: its generator runs no more. */
  readonly ended?: boolean | undefined;
  /** What it gave until now to whoever goes on, in a workflow. */
  readonly output?: Json | undefined;
  readonly route?: Route | undefined;
}

/** A custom agent hands the turn to an agent that is none of its own. */
export interface CustomTransfer extends ModelCall {
  readonly to: string;
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

const transferSchema: v.GenericSchema<unknown, CustomTransfer> = v.custom<CustomTransfer>(
  (value) => typeof value === 'object' && value !== null && 'to' in value,
  'must be a transfer of a custom agent',
);

/** A custom agent's wish to hand the turn to its parent or a peer. */
export const customTransfer: TokenPlace<CustomTransfer> = place('custom.transfer', transferSchema, {
  version: 1,
});
