/** The requests of customers that create, edit and archive endpoint profiles. */
import { archiveProfile, createProfile, editProfile, type ProfileFields } from '#src/commands/profiles.ts';
import type { EndpointProfile } from '#src/domain/endpoint-profile.ts';
import type { Notify } from '#src/domain/notify.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Prng } from '#test/fuzz/prng.ts';
import { type Contents, withCall, withNotifyCall } from './contents.ts';
import type { InputGenerator } from './input-generator.ts';
import type { NamedRequests } from './named-requests.ts';
import type { NotifyInputs } from './notify-inputs.ts';
import { shortId } from './observer.ts';
import { profiled, type Request } from './request.ts';

export interface ProfileRequestsDependencies {
  readonly prng: Prng;
  readonly inputs: InputGenerator;
  readonly notifies: NotifyInputs;
  readonly named: NamedRequests;
  readonly contents: Contents;
  readonly nextLabel: () => string;
}

export class ProfileRequests {
  readonly #dependencies: ProfileRequestsDependencies;

  constructor(dependencies: ProfileRequestsDependencies) {
    this.#dependencies = dependencies;
  }

  create(partition: Partition): Request {
    const { inputs, notifies, named, contents, nextLabel } = this.#dependencies;
    const label = nextLabel();
    const notify = notifies.of(partition);
    const order = { ...inputs.profile(label), name: named.profileName(), notify };
    contents.addOrder(label, { ...order, body: null });
    return {
      what: `create profile ${label}`,
      label,
      partition,
      contentOf: label,
      notifies: notify?.endpointId ?? null,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) =>
        createProfile(commands, partition, () => order, profiled(show), keep),
    };
  }

  change(profile: EndpointProfile): Request {
    const { name, archived } = profile;
    const { prng, named } = this.#dependencies;
    if (name !== null && !archived && prng.chance(0.5)) return named.putProfile(profile);
    return prng.chance(0.1) ? this.archive(profile) : this.edit(profile);
  }

  archive({ id, partition }: EndpointProfile): Request {
    return {
      what: `archive ${shortId(id)}`,
      label: this.#dependencies.nextLabel(),
      partition,
      repeats: 'never',
      send: ({ commands }, _, show) => archiveProfile(commands, partition, id, profiled(show)),
    };
  }

  edit(profile: EndpointProfile): Request {
    const { inputs, notifies, contents, nextLabel } = this.#dependencies;
    const label = nextLabel();
    const wanted = inputs.profile(label);
    contents.add(label, { ...wanted, body: null });
    const edit = inputs.profileEdit(wanted);
    const notify = notifies.edit(profile.partition);
    return this.#edit(profile, label, edit, notify);
  }

  /** Changes only whom the profile notifies. */
  notify(profile: EndpointProfile, notify: Notify): Request {
    return this.#edit(profile, this.#dependencies.nextLabel(), {}, notify);
  }

  #edit(
    { id, partition }: EndpointProfile,
    label: string,
    edit: Partial<ProfileFields>,
    notify: Notify | null | undefined,
  ): Request {
    const { contents } = this.#dependencies;
    if (notify !== undefined) contents.addWish(label, { notify, by: 'patch' });
    const editOf = ({ metadata }: EndpointProfile): Partial<ProfileFields> => {
      const labels = edit.headers === undefined ? metadata : withCall(metadata, label);
      if (notify === undefined) return { ...edit, metadata: labels };
      return { ...edit, notify, metadata: withNotifyCall(labels, label) };
    };
    return {
      what: `edit profile ${shortId(id)}${notify === undefined ? '' : ' and whom it notifies'}`,
      label,
      partition,
      notifies: notify?.endpointId ?? null,
      repeats: 'with_its_key',
      send: ({ commands }, keep, show) => editProfile(commands, partition, id, editOf, profiled(show), keep),
    };
  }
}
