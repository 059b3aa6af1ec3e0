import { PetrichorError } from '../../core/index.ts';

/**
 * A remote agent could not be reached, or its task failed. The turn ended with this message.
 * @remedy Check the address, the key and the log of the remote agent. List its endpoint in `allowHosts`, if the message
 *   says so.
 */
export class RemoteAgentError extends PetrichorError {
  override readonly code = 'remote_agent' as const;
}
