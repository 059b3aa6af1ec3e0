import {
  conversation,
  eventOut,
  sessionPaused,
  state,
  turnCurrent,
  turnPermit,
  turnStopping,
} from '../../agents/index.ts';
import type { Agent } from '../../agents/index.ts';
import { compile, compose } from '../../net/index.ts';
import type { Net } from '../../net/index.ts';
import { eventIn, appendedEventsNet } from './appended-events.ts';

/**
 * Extends an agent so that its sessions accept appended events, and adds the `extraNets` to them. The agent gets the
 * app's name, because sessions are run by the agent of that name.
 */
export function withAppendedEvents(
  appName: string,
  root: Agent,
  extraNets: readonly Net[] = [],
): Agent {
  const open: Net = {
    ...root.net,
    in: {
      ...root.net.in,
      turnPermit,
      turnCurrent,
      ...(extraNets.length > 0 && { turnStopping, sessionPaused }),
    },
    out: { ...root.net.out, state, conversation, eventOut },
  };
  const whole = compose(root.net.name, {
    in: { ...root.net.in, eventIn },
    nets: [open, appendedEventsNet(true), ...extraNets],
  });
  return { ...root, name: appName, author: root.name, net: whole, compiled: compile(whole) };
}
