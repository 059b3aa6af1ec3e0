import * as v from 'valibot';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import type { GeneratorStep } from '../generator/generator-step.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';

/** The progress of a custom agent. The replies to its yields are the endings of its sub-agents. */
export interface CustomStep extends ModelCall, GeneratorStep {
  /** True when the generator does not run again: the agent is done, or is done when the agent it transferred to is. */
  readonly ended?: boolean | undefined;
}

/** A transfer by a custom agent to an agent that is not its sub-agent. */
export interface CustomTransfer extends ModelCall {
  readonly to: string;
}

const stepSchema: v.GenericSchema<unknown, CustomStep> = v.custom<CustomStep>(
  (value) => typeof value === 'object' && value !== null && 'activation' in value,
  'must be a step of a custom agent',
);

/** A custom agent that can run to its next yield. */
export const customStep: TokenPlace<CustomStep> = place('custom.step', stepSchema, { version: 1 });

/** A custom agent that waits for one of its sub-agents. */
export const customWaiting: TokenPlace<CustomStep> = place('custom.waiting', stepSchema, {
  version: 1,
});

/** One token for each step that a custom agent may still take. */
export const customBudget: TokenPlace<null> = place('custom.budget');

const transferSchema: v.GenericSchema<unknown, CustomTransfer> = v.custom<CustomTransfer>(
  (value) => typeof value === 'object' && value !== null && 'to' in value,
  'must be a transfer of a custom agent',
);

/** Transfers of a custom agent to its parent or a peer. */
export const customTransfer: TokenPlace<CustomTransfer> = place('custom.transfer', transferSchema, {
  version: 1,
});
