import { canonicalJson, isJsonObject, sha256Hex } from '../../core/index.ts';
import type { AuthConfig, Json } from '../../core/index.ts';
import { InMemoryCredentialStore, type CredentialStore } from '../../tools/index.ts';

/** The user of an app to whom credentials belong. */
export interface CredentialOwner {
  readonly appName: string;
  readonly userId: string;
}

/** Keeps the credentials of users. Each user has their own. */
export interface CredentialService {
  /** Returns the credential saved for this user and configuration, or `undefined`. */
  loadCredential(auth: AuthConfig, owner: CredentialOwner): Promise<Json | undefined>;
  /**
   * Saves the configuration's exchanged credential, or its raw credential if there is no exchanged one. Replaces an
   * earlier one.
   */
  saveCredential(auth: AuthConfig, owner: CredentialOwner): Promise<void>;
}

/** Keeps credentials in a credential store, by user and auth scheme. */
export class StoredCredentialService implements CredentialService {
  readonly #store: CredentialStore;

  constructor(store: CredentialStore) {
    this.#store = store;
  }

  async loadCredential(auth: AuthConfig, owner: CredentialOwner): Promise<Json | undefined> {
    return this.#store.get(toStoreKey(auth, owner));
  }

  async saveCredential(auth: AuthConfig, owner: CredentialOwner): Promise<void> {
    const credential = auth.exchangedAuthCredential ?? auth.rawAuthCredential;
    if (!isJsonObject(credential)) return;
    await this.#store.put(toStoreKey(auth, owner), credential);
  }
}

/** Keeps credentials in memory. They are lost when the process ends. */
export class InMemoryCredentialService extends StoredCredentialService {
  constructor() {
    super(new InMemoryCredentialStore());
  }
}

function toStoreKey(auth: AuthConfig, { appName, userId }: CredentialOwner): string {
  const name = auth.credentialKey ?? sha256Hex(canonicalJson(auth.authScheme));
  return JSON.stringify([appName, userId, name]);
}
