import type { ConversationItem } from '../agents/index.ts';
import { eventActions, InvalidInputError, newMessageId, toAdkSeconds } from '../core/index.ts';
import type { Content, Event, SessionKey } from '../core/index.ts';
import type { Model } from '../models/index.ts';
import type { Store } from '../store/index.ts';
import type { App } from './app.ts';
import type { BaseEventsSummarizer } from './base-events-summarizer.ts';
import { overrides } from './base-plugin.ts';
import type { Summarise } from './compaction.ts';
import { LlmAgent } from './llm-agent.ts';
import { LlmEventsSummarizer } from './llm-events-summarizer.ts';
import { PluginError } from './runner-errors.ts';

const FIRST_WINDOW = 256;

/**
 * Makes the summaries of an app: the first plugin that says one has the last word, then the summarizer.
 * @throws InvalidInputError when there is neither a summarizer nor a model to ask
 */
export async function summariserOf(
  app: App,
  store: Store,
  modelOf: (model: string | Model) => Promise<Model>,
): Promise<Summarise> {
  const summarizer =
    app.eventsCompactionConfig?.summarizer ?? (await stockSummarizer(app, modelOf));
  return async (items, session, context) => {
    const [startTimestamp, endTimestamp] = await timesOf(store, session, items);
    const events = items.map((item) => eventOf(item, app.rootAgent.name, endTimestamp));
    const content =
      (await pluginsSay(app, session, events)) ??
      contentOf(await summarizer.summarizeEvents({ events, ...context }));
    return content && { eventId: newMessageId(), startTimestamp, endTimestamp, content };
  };
}

async function stockSummarizer(
  { rootAgent }: App,
  modelOf: (model: string | Model) => Promise<Model>,
): Promise<BaseEventsSummarizer> {
  if (!(rootAgent instanceof LlmAgent))
    throw new InvalidInputError(
      'eventsCompactionConfig.summarizer',
      `is required: the root agent "${rootAgent.name}" has no model that could be asked.`,
    );
  return new LlmEventsSummarizer({ model: await modelOf(rootAgent.model) });
}

async function pluginsSay(
  { plugins }: App,
  session: SessionKey,
  events: readonly Event[],
): Promise<Content | undefined> {
  for (const plugin of plugins) {
    if (!overrides(plugin, 'beforeCompactionCallback')) continue;
    try {
      const said = await plugin.beforeCompactionCallback({ ...session, events });
      if (said !== undefined) return said;
    } catch (error) {
      throw new PluginError(plugin.name, 'beforeCompactionCallback', error);
    }
  }
  return undefined;
}

function contentOf(event: Event | undefined): Content | undefined {
  return event?.actions.compaction?.compactedContent ?? event?.content;
}

function eventOf(
  { invocationId, content, author, branch }: ConversationItem,
  agentName: string,
  timestamp: number,
): Event {
  return {
    id: newMessageId(),
    timestamp,
    invocationId,
    author: content.role === 'user' ? 'user' : (author ?? agentName),
    content,
    actions: eventActions(),
    ...(branch !== undefined && { branch }),
  };
}

/** When the first event of the session was, and the last one of what is summarised. Reads no more of the log than that. */
async function timesOf(
  store: Store,
  key: SessionKey,
  items: readonly ConversationItem[],
): Promise<readonly [start: number, end: number]> {
  const row = await store.find(key);
  const last = items.at(-1)?.invocationId;
  let start = toAdkSeconds(row?.createdAt ?? 0);
  for await (const { at } of store.read(key, 0)) {
    start = toAdkSeconds(at);
    break;
  }
  for (let window = FIRST_WINDOW; ; window *= 4) {
    const from = Math.max(0, (row?.lastSeq ?? 0) - window);
    let end: number | undefined;
    for await (const event of store.read(key, from)) {
      if ('invocationId' in event && event.invocationId === last) end = toAdkSeconds(event.at);
    }
    if (end !== undefined || from === 0) return [start, end ?? start];
  }
}
