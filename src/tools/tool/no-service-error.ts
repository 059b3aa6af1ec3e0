import { PetrichorError } from '../../core/index.ts';

/** What was asked for is kept by a service that this runtime was not given. */
export class NoServiceError extends PetrichorError {
  override readonly code = 'no_service' as const;
  readonly service: 'artifacts' | 'memory';

  constructor(service: 'artifacts' | 'memory') {
    super(`There is no service for ${service} here: pass { ${service} } to openRuntime.`);
    this.service = service;
  }
}
