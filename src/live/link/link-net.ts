import { omitUndefined } from '../../core/internal.ts';
import { isPetrichorError } from '../../core/index.ts';
import type { JsonObject, LogEntry } from '../../core/index.ts';
import { conversation, effectInhibitors, eventOut, state } from '../../agents/index.ts';
import type { ConversationItem } from '../../agents/index.ts';
import { getAgentHost, isQuotaRefusal } from '../../agents/internal.ts';
import {
  sessionArchived,
  sessionCompleted,
  sessionPaused,
  turnStopping,
} from '../../agents/index.ts';
import {
  all,
  allOf,
  each,
  effect,
  many,
  matching,
  net,
  oneOf,
  optional,
  pure,
  running,
  upTo,
} from '../../net/index.ts';
import type { Effect, EffectContext, Net } from '../../net/index.ts';
import { LiveHandleExpiredError } from '../models/live-errors.ts';
import type { LiveModel, LiveOpenRequest } from '../models/live-model.ts';
import { commandReady } from '../vocabulary/command-places.ts';
import {
  linkBudget,
  linkCalled,
  linkChanged,
  linkClosed,
  linkDown,
  linkExpired,
  linkGoAway,
  linkHandle,
  linkHandleArrived,
  linkRequest,
  linkRotating,
  linkStart,
  linkStop,
  linkUp,
  linkWanted,
  liveStale,
  toAttempt,
} from '../vocabulary/link-places.ts';
import type { CallSettings, Link, LinkAttempt } from '../vocabulary/link-places.ts';
import { getLiveHost } from '../vocabulary/live-host.ts';
import { modelActive, replyAwaited, voiceOpen } from '../vocabulary/reply-places.ts';

/** How often a connection may be opened until a reply is finished. */
export const LINK_BUDGET = 5;
const OPEN_TIMEOUT_MS = 15_000;
/** The most connections of a session: two while one replaces the other. */
const MAX_LINKS = 4;
/** What happens to a connection comes before what it was used for. */
const LINK_PRIORITY = 20;

/** What a connection is opened with: the model, and the request without its handle. */
export interface LinkTarget {
  readonly model: LiveModel;
  readonly request: Omit<LiveOpenRequest, 'handle'>;
  /** The agent that it is for. Absent in a session of one agent. */
  readonly agent?: string | undefined;
}

/** Finds what a connection is opened with. */
export type FindLinkTarget = (
  tokens: {
    readonly attempt: LinkAttempt;
    readonly conversation: readonly ConversationItem[];
    readonly state: JsonObject;
  },
  context: EffectContext,
) => Promise<LinkTarget>;

/** Options of the subnet of the connection. */
export interface LinkOptions {
  readonly findTarget: FindLinkTarget;
  /** Milliseconds before attempt `attempt`, which is 1 for the first after a loss. */
  readonly backoffMs: (attempt: number) => number;
}

/** The subnet of the connection, and its effect. */
export interface LinkNet {
  readonly net: Net;
  readonly open: Effect;
}

/**
 * The connection of a session as tokens: wanted, being opened, up, down. An open connection is a token and not a firing
 * in flight, so it has no timeout, and a session that only has a connection is at rest.
 */
export function linkNet({ findTarget, backoffMs }: LinkOptions): LinkNet {
  const open = effect('link.open', {
    take: { request: linkRequest },
    read: { conversation, state, handles: all(linkHandle, { min: 0 }) },
    unless: effectInhibitors,
    give: oneOf({ up: linkUp, refused: linkDown, expired: linkExpired }),
    timeoutMs: OPEN_TIMEOUT_MS,
    // A socket of a process that died is closed.
    onCrash: 'rerun',
    failed: ({ error }, { request }) =>
      error instanceof LiveHandleExpiredError
        ? { expired: withoutHandle(request) }
        : { refused: toNextAttempt(request, error) },
    run: async ({ request: attempt, conversation: items, state: values, handles }, context) => {
      const conn = `${context.firingId}.${context.attempt}`;
      const { config } = attempt;
      const target = await findTarget({ attempt, conversation: items, state: values }, context);
      const { model, agent, request } = target;
      // A handle resumes the conversation of one agent.
      const kept = handles.find((one) => one.agent === agent);
      const handle = kept?.handle ?? attempt.handle;
      await getAgentHost(context.host)?.checkQuota?.(model.name);
      await getLiveHost(context.host).openLink({
        conn,
        model,
        signal: context.signal,
        agent,
        request: { ...request, ...omitUndefined({ handle }) },
      });
      const historyLength = kept?.historyLength ?? items.length;
      return { up: { conn, historyLength, ...omitUndefined({ agent, config }) } };
    },
  });

  const places = [linkWanted, linkRequest, running(open), linkUp, linkDown, linkExpired];

  const start = pure('link.want', {
    take: { start: linkStart },
    unless: [...places, sessionArchived, sessionCompleted],
    reset: [linkBudget],
    give: allOf({
      wanted: linkWanted,
      called: linkCalled,
      budget: upTo(LINK_BUDGET, linkBudget),
    }),
    run: ({ start: { runConfig, ...settings } }) => ({
      wanted: { ...settings, attempt: 0 },
      called: toCall(runConfig),
      budget: permits(),
    }),
  });

  // The next turns are those of the new client, and so are the next attempts.
  const startAgain = pure('link.start-again', {
    take: { start: linkStart, called: all(linkCalled, { min: 0 }) },
    reset: [linkBudget],
    priority: -1,
    give: allOf({ called: linkCalled, budget: upTo(LINK_BUDGET, linkBudget) }),
    run: ({ start: { runConfig } }) => ({ called: toCall(runConfig), budget: permits() }),
  });

  // Somebody waits: the delay of the next attempt is over.
  const startNow = pure('link.start-now', {
    take: { start: linkStart, down: linkDown, called: all(linkCalled, { min: 0 }) },
    unless: [linkWanted, linkRequest, running(open), linkUp],
    reset: [linkBudget],
    give: allOf({
      wanted: linkWanted,
      called: linkCalled,
      budget: upTo(LINK_BUDGET, linkBudget),
    }),
    run: ({ start: { runConfig, ...settings }, down }) => ({
      wanted: { ...down, ...settings, attempt: 0 },
      called: toCall(runConfig),
      budget: permits(),
    }),
  });

  const begin = pure('link.begin', {
    take: { wanted: linkWanted, budget: linkBudget },
    give: allOf({ request: linkRequest }),
    run: ({ wanted }) => ({ request: wanted }),
  });

  const giveUp = pure('link.give-up', {
    take: { wanted: linkWanted },
    unless: [linkBudget, linkUp],
    reset: [linkRotating, linkCalled],
    give: allOf({ changed: linkChanged, events: eventOut }),
    run: ({ wanted }) => ({ changed: null, events: toLostEvent(wanted) }),
  });

  // While another connection is open, nothing is lost yet.
  const keepUp = pure('link.keep-up', {
    take: { wanted: linkWanted },
    read: { up: linkUp },
    unless: [linkBudget],
    reset: [linkRotating],
    give: allOf({}),
    run: () => ({}),
  });

  const forget = pure('link.forget-handle', {
    take: { expired: linkExpired },
    reset: [linkHandle],
    give: allOf({ wanted: linkWanted }),
    run: ({ expired }) => ({ wanted: expired }),
  });

  const keepHandle = pure('link.keep-handle', {
    take: { arrived: linkHandleArrived, kept: all(linkHandle, { min: 0 }) },
    read: { conversation, links: all(linkUp, { min: 0 }) },
    give: oneOf({
      handle: linkHandle,
      stale: allOf({ kept: each('kept', linkHandle), stale: liveStale }),
    }),
    priority: LINK_PRIORITY,
    run: ({ arrived: { conn, handle }, kept, conversation: items, links }) => {
      const link = links.find((one) => one.conn === conn);
      if (link === undefined) return { stale: { kept, stale: { kind: 'handle' } } };
      const { agent } = link;
      return { handle: { handle, historyLength: items.length, ...omitUndefined({ agent }) } };
    },
  });

  const lost = pure('link.lost', {
    take: {
      closed: matching(linkClosed, ({ conn }) => conn),
      link: matching(linkUp, ({ conn }) => conn),
    },
    read: {
      budget: all(linkBudget, { min: 0 }),
      awaited: all(replyAwaited, { min: 0 }),
      active: all(modelActive, { min: 0 }),
    },
    reset: [linkRotating],
    give: allOf({ down: linkDown, changed: optional(linkChanged) }),
    priority: LINK_PRIORITY,
    run: ({ budget, link: up, awaited, active }) => ({
      down: { ...toAttempt(up), attempt: LINK_BUDGET - budget.length },
      // A reply over the other connection goes on.
      changed: [...awaited, ...active].every(({ conn }) => conn === up.conn) ? null : undefined,
    }),
  });

  const closedAgain = pure('link.closed-again', {
    take: { closed: linkClosed },
    give: allOf({}),
    run: () => ({}),
  });

  const again = pure('link.again', {
    take: { down: linkDown },
    unless: [linkWanted, linkRequest, running(open), linkUp],
    after: ({ attempt }) => backoffMs(attempt),
    give: allOf({ wanted: linkWanted }),
    run: ({ down }) => ({ wanted: down }),
  });

  const settle = pure('link.recovered', {
    take: { down: linkDown },
    read: { up: all(linkUp) },
    reset: [linkRotating],
    give: allOf({}),
    priority: LINK_PRIORITY,
    run: () => ({}),
  });

  // The next connection is made before the server breaks this one.
  const rotate = pure('link.rotate', {
    take: { goAway: linkGoAway },
    read: { links: all(linkUp) },
    unless: [linkWanted, linkRequest, running(open), linkDown, linkRotating],
    give: oneOf({
      rotated: allOf({ wanted: linkWanted, rotating: linkRotating }),
      stale: liveStale,
    }),
    run: ({ goAway: { conn }, links: [up] }) =>
      up?.conn === conn
        ? { rotated: { wanted: toAttempt(up), rotating: null } }
        : { stale: { kind: 'go-away' } },
  });

  const rotateAgain = pure('link.rotate-again', {
    take: { goAway: linkGoAway },
    priority: -1,
    give: allOf({}),
    run: () => ({}),
  });

  const swap = pure('link.swap', {
    take: { links: many(2, linkUp) },
    // A reply ends over the connection on which it began.
    unless: [replyAwaited, modelActive],
    reset: [linkRotating],
    priority: LINK_PRIORITY,
    give: allOf({ up: linkUp, changed: linkChanged, command: commandReady }),
    run: ({ links: [old, next] }) => ({
      up: next ?? noLink,
      changed: null,
      command: { kind: 'close' as const, conn: (old ?? noLink).conn },
    }),
  });

  const held = {
    wanted: all(linkWanted, { min: 0 }),
    requests: all(linkRequest, { min: 0 }),
    opening: all(running(open), { min: 0 }),
    links: all(linkUp, { min: 0 }),
    down: all(linkDown, { min: 0 }),
    expired: all(linkExpired, { min: 0 }),
  } as const;
  const ended = {
    // Nobody is left who would report the end of the speech.
    reset: [linkCalled, linkBudget, linkHandle, linkGoAway, linkRotating, voiceOpen],
    give: allOf({ changed: optional(linkChanged), commands: upTo(MAX_LINKS, commandReady) }),
  } as const;

  const stop = pure('link.stop', {
    ...ended,
    take: { stop: linkStop, ...held },
    priority: LINK_PRIORITY,
    run: ({ links, wanted, requests, opening, down, expired }) => ({
      ...toEnd(links),
      changed: [links, wanted, requests, opening, down, expired].some(({ length }) => length > 0)
        ? null
        : undefined,
    }),
  });

  const endClosed = [
    pure('link.end-archived', {
      ...ended,
      take: { first: linkUp },
      read: { closed: sessionArchived },
      run: ({ first }) => toEnd([first]),
    }),
    pure('link.end-completed', {
      ...ended,
      take: { first: linkUp },
      read: { closed: sessionCompleted },
      run: ({ first }) => toEnd([first]),
    }),
  ];

  return {
    open,
    net: net('link', {
      in: {
        linkStart,
        linkStop,
        linkWanted,
        linkUp,
        linkBudget,
        replyAwaited,
        modelActive,
        voiceOpen,
        linkClosed,
        linkGoAway,
        linkHandleArrived,
        conversation,
        state,
        turnStopping,
        sessionPaused,
        sessionArchived,
        sessionCompleted,
      },
      out: {
        linkCalled,
        linkWanted,
        linkRequest,
        linkUp,
        linkDown,
        linkExpired,
        linkHandle,
        linkBudget,
        linkChanged,
        commandReady,
        liveStale,
        eventOut,
      },
      transitions: [
        open,
        start,
        startAgain,
        startNow,
        begin,
        giveUp,
        keepUp,
        forget,
        keepHandle,
        lost,
        closedAgain,
        again,
        settle,
        rotate,
        rotateAgain,
        swap,
        stop,
        ...endClosed,
      ],
    }),
  };
}

const noLink: Link = { conn: '', historyLength: 0 };

function withoutHandle(attempt: LinkAttempt): LinkAttempt {
  const { handle: _, ...rest } = attempt;
  return rest;
}

/** The reason of a quota is for the user. What a provider says about a failure is not. */
function toNextAttempt(request: LinkAttempt, error: unknown): LinkAttempt {
  const isRefusal = isPetrichorError(error) && isQuotaRefusal(error.code);
  const refusal = isRefusal ? error.message : undefined;
  return omitUndefined({ ...request, attempt: request.attempt + 1, refusal });
}

function toLostEvent({ refusal }: LinkAttempt): LogEntry {
  const reason = refusal === undefined ? '' : ` ${refusal}`;
  return {
    type: 'error',
    /**
     * The live connection was lost and could not be opened again. The session goes on without it: messages are answered
     * by its text model.
     * @remedy Begin the call again. If a quota refuses connections, the message says which. Otherwise, the log of the
     * provider says why it refuses them.
     */
    code: 'live_connection_lost',
    message: `The live connection could not be opened again.${reason} Begin the call again.`,
  };
}

function toCall(runConfig: JsonObject | undefined): CallSettings | null {
  return runConfig === undefined ? null : { runConfig };
}

function permits(): readonly null[] {
  return Array.from({ length: LINK_BUDGET }, () => null);
}

function toEnd(links: readonly { readonly conn: string }[]): {
  readonly commands: readonly { readonly kind: 'close'; readonly conn: string }[];
} {
  return { commands: links.map(({ conn }) => ({ kind: 'close', conn })) };
}
