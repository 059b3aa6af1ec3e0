import { omitUndefined } from '../../core/internal.ts';
import { effectInhibitors } from '../../agents/index.ts';
import type { ModelCall } from '../../agents/index.ts';
import { allOf, oneOf, pure } from '../../net/index.ts';
import type { Transition } from '../../net/index.ts';
import { commandReady } from '../vocabulary/command-places.ts';
import type { ConnectionCommand } from '../vocabulary/command-places.ts';
import { linkBudget, linkUp, linkWanted, toAttempt } from '../vocabulary/link-places.ts';
import type { Link } from '../vocabulary/link-places.ts';
import { modelActive, replyAwaited, replyCut, silenceFirst } from '../vocabulary/reply-places.ts';
import type { AwaitedReply } from '../vocabulary/reply-places.ts';
import { speakerKey } from '../vocabulary/speaker.ts';
import type { Speaker } from '../vocabulary/speaker.ts';

/**
 * Asks for a reply of an agent over the connection. A connection that is for another agent is closed first, and the next
 * one is for this agent: a live connection has the instruction and the tools of one agent.
 */
export function requestReply(speaker: Speaker, speakers: readonly Speaker[]): Transition {
  const unless = [replyAwaited, modelActive, replyCut, ...effectInhibitors];
  const asked = { awaited: replyAwaited, silence: silenceFirst, command: commandReady } as const;
  const { request, identity } = speaker;
  const toAsked = (
    { invocationId, round }: ModelCall,
    { conn, agent }: Link,
  ): {
    readonly awaited: AwaitedReply;
    readonly silence: null;
    readonly command: ConnectionCommand;
  } => ({
    awaited: { conn, invocationId, round, ...omitUndefined({ agent }) },
    silence: null,
    command: { kind: 'request', conn, invocationId, round },
  });
  if (speakers.length === 1) {
    return pure('reply.request', {
      take: { request },
      read: { link: linkUp },
      unless,
      give: allOf(asked),
      run: ({ request: call, link }) => toAsked(call, link),
    });
  }
  return pure(speakerKey('reply.request', speakers, identity.agentName), {
    take: { request, link: linkUp },
    unless: [...unless, linkWanted],
    give: oneOf({
      asked: allOf({ ...asked, link: linkUp }),
      other: allOf({ request, wanted: linkWanted, budget: linkBudget, command: commandReady }),
    }),
    run: ({ request: call, link }) =>
      link.agent === identity.agentName
        ? { asked: { ...toAsked(call, link), link } }
        : {
            other: {
              request: call,
              wanted: { ...toAttempt(link), agent: identity.agentName },
              // A transfer costs nothing of the budget of a connection that is lost.
              budget: null,
              command: { kind: 'close', conn: link.conn },
            },
          },
  });
}
