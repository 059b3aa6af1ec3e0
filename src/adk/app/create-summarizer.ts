import { omitUndefined } from '../../core/internal.ts';
import type { ConversationItem } from '../../agents/index.ts';
import {
  createEventActions,
  InvalidInputError,
  newMessageId,
  toAdkSeconds,
} from '../../core/index.ts';
import type { Content, Event, SessionKey } from '../../core/index.ts';
import type { Model } from '../../models/index.ts';
import type { Store } from '../../store/index.ts';
import type { AppSettings } from './app-config.ts';
import type { BaseEventsSummarizer } from '../compaction/base-events-summarizer.ts';
import { hasCallback } from '../plugins/base-plugin.ts';
import type { Summarize } from '../compaction/compaction-net.ts';
import { LlmAgent } from '../agents/llm-agent.ts';
import { LlmEventsSummarizer } from '../compaction/llm-events-summarizer.ts';
import { liveTextModel } from '../../live/internal.ts';
import { isLiveModel } from '../live/resolve-live-model.ts';
import { PluginError } from '../plugins/plugin-error.ts';

const FIRST_WINDOW = 256;

/**
 * Creates the function that summarizes for an app. The first plugin that returns a summary wins; otherwise the
 * summarizer is called.
 * @throws InvalidInputError if there is neither a summarizer nor a model to use
 */
export async function createSummarizer(
  app: AppSettings,
  store: Store,
  resolveModel: (model: string | Model) => Promise<Model>,
): Promise<Summarize> {
  const summarizer =
    app.eventsCompactionConfig?.summarizer ?? (await defaultSummarizer(app, resolveModel));
  return async (items, session, context) => {
    const [startTimestamp, endTimestamp] = await findTimestamps(store, session, items);
    const events = items.map((item) => toEvent(item, app.rootAgent.name, endTimestamp));
    const content =
      (await summaryFromPlugins(app, session, events)) ??
      readSummaryContent(await summarizer.summarizeEvents({ events, ...context }));
    return content && { eventId: newMessageId(), startTimestamp, endTimestamp, content };
  };
}

async function defaultSummarizer(
  { rootAgent }: AppSettings,
  resolveModel: (model: string | Model) => Promise<Model>,
): Promise<BaseEventsSummarizer> {
  if (!(rootAgent instanceof LlmAgent))
    throw new InvalidInputError(
      'eventsCompactionConfig.summarizer',
      `is required: the root agent "${rootAgent.name}" has no model to summarize with.`,
    );
  const { model } = rootAgent;
  return new LlmEventsSummarizer({
    model: isLiveModel(model) ? liveTextModel(model) : await resolveModel(model),
  });
}

async function summaryFromPlugins(
  { plugins }: AppSettings,
  session: SessionKey,
  events: readonly Event[],
): Promise<Content | undefined> {
  for (const plugin of plugins) {
    if (!hasCallback(plugin, 'beforeCompactionCallback')) continue;
    try {
      const summary = await plugin.beforeCompactionCallback({ ...session, events });
      if (summary !== undefined) return summary;
    } catch (error) {
      throw new PluginError(plugin.name, 'beforeCompactionCallback', error);
    }
  }
  return undefined;
}

function readSummaryContent(event: Event | undefined): Content | undefined {
  return event?.actions.compaction?.compactedContent ?? event?.content;
}

function toEvent(
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
    actions: createEventActions(),
    ...omitUndefined({ branch }),
  };
}

/**
 * Returns the timestamps of the session's first event and of the last summarized one. Reads no more of the log than
 * needed.
 */
async function findTimestamps(
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
