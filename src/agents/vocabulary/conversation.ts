import * as v from 'valibot';
import type { Content } from '../../core/index.ts';
import { listPlace } from '../../net/index.ts';
import type { ListPlace } from '../../net/index.ts';
import { messageMetadataSchema } from './message-metadata.ts';
import type { MessageMetadata } from './message-metadata.ts';
import { contentSchema } from './place-schemas.ts';

/** One message of the conversation that the model is shown. */
export interface ConversationItem {
  readonly invocationId: string;
  readonly content: Content;
  /** The agent that wrote it, in a session of several agents. A user's message has no author. */
  readonly author?: string | undefined;
  /** The branch it was written in, when agents run concurrently. Agents in other branches do not see it. */
  readonly branch?: string | undefined;
  /** The metadata of a user's message. */
  readonly metadata?: MessageMetadata | undefined;
}

/** The messages that the model is shown, oldest first. */
export const conversation: ListPlace<ConversationItem> = listPlace(
  'conversation',
  v.object({
    invocationId: v.string(),
    content: contentSchema,
    author: v.optional(v.string()),
    branch: v.optional(v.string()),
    metadata: v.optional(messageMetadataSchema),
  }),
  { version: 1 },
);
