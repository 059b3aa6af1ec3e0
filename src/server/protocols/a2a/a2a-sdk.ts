import type * as core from '@a2a-js/sdk';
import type * as legacy from '@a2a-js/sdk/compat/v0_3/server';
import type * as errors from '@a2a-js/sdk/errors';
import type * as server from '@a2a-js/sdk/server';

/** The parts of the official SDK that the protocol uses. It is an optional package. */
export interface A2aSdk {
  readonly core: typeof core;
  readonly errors: typeof errors;
  readonly server: typeof server;
  /** Translates requests and responses of A2A 0.3. */
  readonly legacy: typeof legacy;
}

/** Loads the SDK. */
export async function loadA2aSdk(): Promise<A2aSdk> {
  const [coreModule, errorsModule, serverModule, legacyModule] = await Promise.all([
    import('@a2a-js/sdk'),
    import('@a2a-js/sdk/errors'),
    import('@a2a-js/sdk/server'),
    import('@a2a-js/sdk/compat/v0_3/server'),
  ]);
  return { core: coreModule, errors: errorsModule, server: serverModule, legacy: legacyModule };
}
