import type { DocumentStore } from '../../store/index.ts';
import { SecretKeyError } from './secret-box.ts';
import type { SecretBox } from './secret-box.ts';
import type { WebhookSender } from './webhook-sender.ts';
import { parseWebhook, toWebhookJson } from './webhook.ts';
import type { Webhook } from './webhook.ts';

const WEBHOOK_KIND = 'webhook';

export interface WebhookRegistryOptions {
  readonly documents: DocumentStore;
  readonly sender: Pick<WebhookSender, 'assertAllowed'>;
  /** Encrypts the signing secrets. */
  readonly secrets: SecretBox;
  readonly onError: (error: unknown) => void;
}

/** The webhooks of all workspaces. Their signing secrets are stored encrypted. */
export class WebhookRegistry {
  readonly #documents: DocumentStore;
  readonly #sender: Pick<WebhookSender, 'assertAllowed'>;
  readonly #secrets: SecretBox;
  readonly #onError: (error: unknown) => void;
  readonly #workspaces = new Set<string>();

  constructor({ documents, sender, secrets, onError }: WebhookRegistryOptions) {
    this.#documents = documents;
    this.#sender = sender;
    this.#secrets = secrets;
    this.#onError = onError;
  }

  /** The known workspaces with webhooks. Sessions of other workspaces are not read. */
  get workspaces(): ReadonlySet<string> {
    return this.#workspaces;
  }

  /** Adds the workspaces of stored webhooks, which another process may have created, to `workspaces`. */
  async loadWorkspaces(): Promise<void> {
    for (const { id } of await this.#documents.documents({ kind: WEBHOOK_KIND }))
      this.#workspaces.add(id.slice(0, id.indexOf('/')));
  }

  /**
   * Adds a webhook, or returns the one that exists under its id.
   * @throws InvalidInputError when the URL is not allowed; SecretKeyError when the secret cannot be encrypted
   */
  async add(workspace: string, webhook: Webhook): Promise<Webhook> {
    await this.#sender.assertAllowed(webhook.url);
    const id = `${workspace}/${webhook.id}`;
    const encrypted = {
      ...webhook,
      // A subscription without credentials has no secret.
      secret: webhook.secret === '' ? '' : this.#secrets.encrypt(webhook.secret, secretContext(id)),
    };
    const change = { kind: WEBHOOK_KIND, id, version: 0, value: toWebhookJson(encrypted) };
    const written = await this.#documents.writeDocuments([change]);
    this.#workspaces.add(workspace);
    if (written.ok) return webhook;
    const earlier = await this.find(workspace, webhook.id);
    if (earlier === undefined) return webhook;
    return { ...earlier, secret: this.decryptSecret(workspace, earlier) };
  }

  /** Finds a webhook. Its secret is encrypted. */
  async find(workspace: string, id: string): Promise<Webhook | undefined> {
    const found = await this.#documents.document(WEBHOOK_KIND, `${workspace}/${id}`);
    return found === undefined ? undefined : parseWebhook(found.value);
  }

  async list(workspace: string): Promise<readonly Webhook[]> {
    const found = await this.#documents.documents({ kind: WEBHOOK_KIND, prefix: `${workspace}/` });
    return found.map(({ value }) => parseWebhook(value));
  }

  async remove(workspace: string, id: string): Promise<boolean> {
    const found = await this.#documents.document(WEBHOOK_KIND, `${workspace}/${id}`);
    if (found === undefined) return false;
    const change = { kind: WEBHOOK_KIND, id: found.id, version: found.version };
    return (await this.#documents.writeDocuments([change])).ok || this.remove(workspace, id);
  }

  /** @throws SecretKeyError when no key decrypts the secret */
  decryptSecret(workspace: string, { id, secret }: Webhook): string {
    return this.#secrets.decrypt(secret, secretContext(`${workspace}/${id}`));
  }

  /** Encrypts with the current key the secrets that are not encrypted, or encrypted with an earlier key. */
  async reencryptSecrets(): Promise<void> {
    for (const { id, version, value } of await this.#documents.documents({ kind: WEBHOOK_KIND })) {
      const webhook = parseWebhook(value);
      try {
        if (webhook.secret === '' || this.#secrets.isCurrent(webhook.secret)) continue;
        const secret = this.#secrets.decrypt(webhook.secret, secretContext(id));
        const encrypted = { ...webhook, secret: this.#secrets.encrypt(secret, secretContext(id)) };
        // If the write fails, another process has encrypted the secret meanwhile.
        await this.#documents.writeDocuments([
          { kind: WEBHOOK_KIND, id, version, value: toWebhookJson(encrypted) },
        ]);
      } catch (error) {
        if (!(error instanceof SecretKeyError)) throw error;
        // The other webhooks still work, and this one can be removed.
        this.#onError(error);
      }
    }
  }
}

/** Binds an encrypted secret to its webhook. */
function secretContext(id: string): string {
  return `${WEBHOOK_KIND}/${id}`;
}
