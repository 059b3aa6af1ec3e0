import { canonicalJson, isJsonObject, sha256Hex } from '../../core/index.ts';
import type { AuthConfig, Json } from '../../core/index.ts';
import { InMemoryCredentialStore } from '../../tools/auth/credential-store.ts';
import type { CredentialStore } from '../../tools/auth/credential-store.ts';

/** Whose credentials. */
export interface CredentialOwner {
  readonly appName: string;
  readonly userId: string;
}

/** Keeps what users signed in for, each user's for themselves. */
export interface CredentialService {
  /** What was saved for this user and configuration, if anything was. */
  loadCredential(auth: AuthConfig, owner: CredentialOwner): Promise<Json | undefined>;
  /** Keeps the configuration's exchanged credential, the raw one if there is no other. The last one counts. */
  saveCredential(auth: AuthConfig, owner: CredentialOwner): Promise<void>;
}

/** Credentials over a store of them, by user and by what asks for them. */
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

/** Credentials that end with the process. */
export class InMemoryCredentialService extends StoredCredentialService {
  constructor() {
    super(new InMemoryCredentialStore());
  }
}

function toStoreKey(auth: AuthConfig, { appName, userId }: CredentialOwner): string {
  const name = auth.credentialKey ?? sha256Hex(canonicalJson(auth.authScheme));
  return JSON.stringify([appName, userId, name]);
}
