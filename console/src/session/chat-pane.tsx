import { useComputed } from '@preact/signals';
import type { JSX } from 'preact';
import { memo } from 'preact/compat';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { readOnly } from '../state/connection.ts';
import { EmptyState, Loading } from '../ui/empty-state.tsx';
import { formatFullTime, formatTime, redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Blocks } from './blocks.tsx';
import { textIn } from './chat-items.ts';
import type { ChatItem, MessageItem, NoticeItem } from './chat-items.ts';
import { Composer } from './composer.tsx';
import type { Preview, SessionModel } from './session-model.ts';
import { ToolCard } from './tool-card.tsx';

export interface ChatPaneProps {
  readonly model: SessionModel;
  /** Called for a message of a person that is to be said in another way. */
  readonly onEdit: (message: MessageItem) => void;
  readonly onRewind: (message: MessageItem) => void;
}

/** The conversation, with the calls of tools where they happened, and where a person writes. */
export function ChatPane(props: ChatPaneProps): JSX.Element {
  return (
    <section class="pane chat" aria-label="Chat">
      <h2 class="visually-hidden">Chat</h2>
      <ChatLog {...props} />
      <Composer model={props.model} />
    </section>
  );
}

const NO_PREVIEWS: readonly Preview[] = [];

/** The messages and calls. Without `onEdit` and `onRewind`, nothing can be changed. */
export function ChatLog({
  model,
  onEdit,
  onRewind,
}: Partial<ChatPaneProps> & Pick<ChatPaneProps, 'model'>): JSX.Element {
  const { items, waiting, hasEarlier } = model.chat.value;
  const isLive = useComputed(() => model.at.value === undefined).value;
  const previews = isLive ? model.previews.value : NO_PREVIEWS;
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
  }, [items, previews]);
  return (
    <div
      class="chat-log"
      ref={scroller}
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Conversation"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < 48;
      }}
    >
      {items.length === 0 && previews.length === 0 && <EmptyChat model={model} />}
      {hasEarlier && (
        <button
          type="button"
          class="button small earlier"
          onClick={() => {
            isAtEnd.current = false;
            model.chatLength.value *= 3;
          }}
        >
          Show earlier messages
        </button>
      )}
      {items.map((item) => (
        <Item
          key={item.id}
          item={item}
          isWaiting={waiting.has(item.id)}
          isLive={isLive}
          model={model}
          onEdit={onEdit}
          onRewind={onRewind}
        />
      ))}
      {previews.map((preview) => (
        <PreviewView key={preview.id} preview={preview} />
      ))}
    </div>
  );
}

function EmptyChat({ model }: { readonly model: SessionModel }): JSX.Element {
  if (model.session.value === undefined && !model.isFile) return <Loading rows={4} />;
  return model.moment.value.isLive ? (
    <EmptyState icon="send" title="Nothing was said yet">
      <p>Write the first message below. The net beside it shows what the agent does with it.</p>
    </EmptyState>
  ) : (
    <p class="muted center">Nothing had been said at this moment.</p>
  );
}

const Item = memo(function Item({
  item,
  isWaiting,
  isLive,
  model,
  onEdit,
  onRewind,
}: {
  readonly item: ChatItem;
  readonly isWaiting: boolean;
  readonly isLive: boolean;
  readonly model: SessionModel;
  readonly onEdit: ChatPaneProps['onEdit'] | undefined;
  readonly onRewind: ChatPaneProps['onRewind'] | undefined;
}): JSX.Element {
  switch (item.kind) {
    case 'message':
      return (
        <Message
          item={item}
          canChange={!readOnly.value && !model.isFile}
          onEdit={onEdit}
          onRewind={onRewind}
        />
      );
    case 'call':
      return <ToolCard call={item} isWaiting={isWaiting} isLive={isLive} model={model} />;
    case 'notice':
      return <Notice item={item} />;
    default:
      return item satisfies never;
  }
});

function Message({
  item,
  canChange,
  onEdit,
  onRewind,
}: {
  readonly item: MessageItem;
  readonly canChange: boolean;
  readonly onEdit: ChatPaneProps['onEdit'] | undefined;
  readonly onRewind: ChatPaneProps['onRewind'] | undefined;
}): JSX.Element {
  const text = useMemo(() => textIn(item.blocks), [item.blocks]);
  const rest = item.blocks.filter((block) => block.type !== 'text');
  return (
    <article class={`message message-${item.from}`} aria-label={`Message of the ${item.from}`}>
      <header>
        <strong>{item.from === 'user' ? 'You' : 'Agent'}</strong>
        {item.at !== null && (
          <time class="muted" dateTime={item.at} title={formatFullTime(item.at)}>
            {formatTime(item.at)}
          </time>
        )}
        {item.at === null && <span class="muted">sending</span>}
        {item.from === 'user' && canChange && onEdit !== undefined && onRewind !== undefined && (
          <span class="message-actions">
            <button type="button" class="link" onClick={() => onEdit(item)}>
              Edit in a fork
            </button>
            <button type="button" class="link" onClick={() => onRewind(item)}>
              Rewind
            </button>
          </span>
        )}
      </header>
      {item.from === 'agent' ? (
        text !== '' && <Markdown text={text} />
      ) : (
        <p class="plain">{redact(text)}</p>
      )}
      {rest.length > 0 && <Blocks blocks={rest} />}
    </article>
  );
}

function PreviewView({ preview }: { readonly preview: Preview }): JSX.Element {
  if (preview.type === 'agent.thinking')
    return (
      <details class="thinking">
        <summary>
          <span class="spinner" aria-hidden="true" /> Thinking
        </summary>
        <p class="plain">{redact(preview.text)}</p>
      </details>
    );
  return (
    <article
      class="message message-agent streaming"
      aria-label="Message of the agent, not complete"
    >
      <header>
        <strong>Agent</strong>
        <span class="spinner" aria-hidden="true" />
      </header>
      <Markdown text={preview.text} />
    </article>
  );
}

function Notice({ item: { tone, text, at } }: { readonly item: NoticeItem }): JSX.Element {
  return (
    <p class={`notice notice-${tone}`}>
      {tone === 'bad' && <Icon name="close" />}
      <span>{redact(text)}</span>
      {at !== null && <span class="muted">{formatTime(at)}</span>}
    </p>
  );
}
