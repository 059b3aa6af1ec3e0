import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { Schemas } from '../../../src/client/generated.ts';
import { client, readOnly } from '../state/connection.ts';
import { navigate, toHref } from '../state/route.ts';
import { Icon } from '../ui/icon.tsx';
import { act, showToast } from '../ui/toast.tsx';
import type { SessionModel } from './session-model.ts';

type ContentBlock = Schemas['ContentBlock'];

interface Attachment {
  readonly name: string;
  readonly block: ContentBlock;
}

/** Where a person writes. At an earlier moment it forks there, and says it in the fork. */
export function Composer({ model }: { readonly model: SessionModel }): JSX.Element | null {
  const text = useSignal('');
  const attached = useSignal<readonly Attachment[]>([]);
  const sending = useSignal(false);
  const file = useRef<HTMLInputElement>(null);
  const { isLive, record } = model.moment.value;
  const { status } = model.chat.value;
  if (model.isFile) return <p class="composer-note muted">A journal file can only be read.</p>;
  if (readOnly.value) return <p class="composer-note muted">Read only: nothing can be sent.</p>;
  if (status === 'terminated' && isLive)
    return <p class="composer-note muted">The session is archived. Go back in time to fork it.</p>;
  const isEmpty = text.value.trim() === '' && attached.value.length === 0;
  const send = (): void => {
    if (isEmpty || sending.value) return;
    sending.value = true;
    const said = text.value;
    const blocks = attached.value;
    text.value = '';
    attached.value = [];
    act(async () => {
      try {
        await say(
          model,
          said,
          blocks.map(({ block }) => block),
        );
      } catch (error) {
        // What was written is not lost.
        text.value = said;
        attached.value = blocks;
        throw error;
      } finally {
        sending.value = false;
      }
    });
  };
  const isRunning = isLive && (status === 'running' || status === 'rescheduling');
  return (
    <form
      class={`composer${isLive ? '' : ' composer-past'}`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {attached.value.length > 0 && (
        <ul class="attachments">
          {attached.value.map(({ name }, index) => (
            <li key={name}>
              {name}
              <button
                type="button"
                class="icon-button"
                aria-label={`Remove ${name}`}
                onClick={() => {
                  attached.value = attached.value.toSpliced(index, 1);
                }}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        rows={2}
        data-shortcut="compose"
        aria-label={isLive ? 'Message' : `Fork at record ${record} and say`}
        placeholder={isLive ? 'Write a message' : `Fork at record ${record} and say …`}
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class="composer-buttons">
        <button
          type="button"
          class="icon-button"
          aria-label="Attach an image or a file"
          onClick={() => file.current?.click()}
        >
          <Icon name="attach" />
        </button>
        <input
          ref={file}
          type="file"
          class="visually-hidden"
          tabIndex={-1}
          aria-hidden="true"
          accept="image/*,application/pdf,text/*"
          onChange={({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? [];
            if (chosen === undefined) return;
            act(async () => {
              attached.value = [...attached.value, await readAttachment(chosen)];
            });
            currentTarget.value = '';
          }}
        />
        <span class="grow" />
        {isRunning && (
          <button
            type="button"
            class="button"
            onClick={() =>
              act(async () => client.value.sessions.send(model.id, [{ type: 'user.interrupt' }]))
            }
          >
            <Icon name="stop" /> Stop
          </button>
        )}
        <button type="submit" class="button primary" disabled={isEmpty || sending.value}>
          <Icon name={isLive ? 'send' : 'fork'} /> {isLive ? 'Send' : 'Fork here'}
        </button>
      </div>
    </form>
  );
}

async function say(
  model: SessionModel,
  text: string,
  blocks: readonly ContentBlock[],
): Promise<void> {
  const written = text.trim();
  const content = [
    ...blocks,
    ...(written === '' ? [] : [{ type: 'text', text: written } as const]),
  ];
  const { isLive, record } = model.moment.value;
  const id = isLive
    ? model.id
    : (await client.value.sessions.fork(model.id, { atRecord: record })).id;
  await client.value.sessions.send(id, [{ type: 'user.message', content }]);
  if (isLive) return;
  showToast(`Forked at record ${record}.`);
  navigate(toHref(['s', id]));
}

async function readAttachment(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  // 1 MiB is the limit of a request, and base64 needs a third more.
  if (bytes.length > 700_000) throw new Error(`${file.name} is larger than 700 KB.`);
  const data = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  const source = { type: 'base64', media_type: file.type || 'text/plain', data } as const;
  const type = file.type.startsWith('image/') ? 'image' : 'document';
  return { name: file.name, block: { type, source } };
}
