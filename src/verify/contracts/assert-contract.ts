import { InvalidContractError } from '../properties/verify-errors.ts';
import type { NetComponent } from './contract.ts';

/**
 * Checks that a contract is a deterministic automaton over its events.
 * @throws InvalidContractError if two events have one name, or a step names an event or a state that the contract does
 *   not have.
 */
export function assertContract({ name, contract }: NetComponent): void {
  const { initial, events, steps } = contract;
  const refuse = (field: string, problem: string, remedy: string): never => {
    throw new InvalidContractError(name, field, problem, remedy);
  };
  const states = new Set(Object.keys(steps));
  const assertState = (field: string, state: string): void => {
    if (!states.has(state))
      refuse(field, `is the state "${state}", which has no entry in steps`, `Add "${state}: {}".`);
  };
  const names = new Set<string>();
  for (const [index, { name: event }] of events.entries()) {
    if (names.has(event))
      refuse(
        `events[${index}].name`,
        `is "${event}", the name of an earlier event`,
        'Give each event a name of its own.',
      );
    names.add(event);
  }
  assertState('initial', initial);
  for (const [state, next] of Object.entries(steps))
    for (const [event, to] of Object.entries(next)) {
      const field = `steps.${state}.${event}`;
      if (!names.has(event))
        refuse(
          field,
          'is a step of an event that the contract does not have',
          `Declare the event "${event}", or remove the step.`,
        );
      assertState(field, to);
    }
}
