// Made from the published document: `./waybell docs`. Not to be edited.
export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find this document */
        get: operations["getRoot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin-openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["getAdminOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List accounts */
        get: operations["listAccounts"];
        put?: never;
        /**
         * Create an account
         * @description A broker is an account on the shipper interface.
         */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{guid}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /** See an account */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Name an account, and switch its features on and off
         * @description What is subscribed stays; nothing is sent for it while its feature is off.
         */
        patch: operations["updateAccount"];
        trace?: never;
    };
    "/v1/admin/accounts/{guid}/clients": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /**
         * List the API clients of an account
         * @description By id: those that have, or had, an access token or a subscription.
         */
        get: operations["listClients"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{guid}/close": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close an account
         * @description Its subscriptions and listeners end, and what waits for them is dropped (`closed`); its access tokens, links and sign-ins to the console hold no more; its credentials and signing secrets are deleted. Nothing goes out after it but requests that are under way. Nothing new can be made for it until it is opened again, by a JWT neither. The delivery log stays for as long as it is kept, and the audit log too. Once more is fine.
         */
        post: operations["closeAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{guid}/console-links": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a link that opens the console for a client, once
         * @description For a platform that shows the console within a page of its own (`CONSOLE_PARENTS`), or for a person who has no token. The first to open it is signed in. It is in the list of access tokens, and ends when revoked there. The audit log names the operator for the link and for its opening.
         */
        post: operations["createConsoleLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{guid}/open": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open a closed account again
         * @description What ended with it stays ended. Once more is fine.
         */
        post: operations["openAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{guid}/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /**
         * List the subscriptions of an account
         * @description Current and ended ones, the newest first.
         */
        get: operations["listSubscriptionsOfAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/accounts/{guid}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        /**
         * List the access tokens of an account
         * @description Oldest first; never the tokens themselves, and none of links that have ended.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Create an access token
         * @description Only a hash of it is kept. Without `scopes` it has `webhooks:read` and `webhooks:write`.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See who changed accounts, tokens, secrets, subscriptions and stops
         * @description The last change first. The same as `./waybell audit`.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find deliveries of all accounts
         * @description Those that fulfil every condition, newest first; with `status=exhausted`, `dropped` or both by when they were given up or dropped. A page may hold fewer than `limit`, even none, while `next` leads on: what is rare among very many has to be looked for. By `endpoint` without `account`, those of subscriptions that have ended are left out.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/failing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See what fails now
         * @description Tests count in none of it. The same as `./waybell failing`.
         */
        get: operations["listFailing"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/held-deactivations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the subscriptions that a rule would switch off now, and that are held
         * @description So many would be at once that the fault may be ours. The one that was held first comes first. What becomes of them, `./waybell deactivations` says.
         */
        get: operations["listHeldDeactivations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/hosts/{host}/start": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Without a port. */
                host: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have callbacks to a stopped host go on
         * @description What waits is sent now, but for what is paused or stopped by itself.
         */
        post: operations["startHost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/hosts/{host}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Without a port. */
                host: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have all callbacks to a host wait
         * @description Whichever accounts they are of, to any port, until it is started, or they are too old. Clients see that, and why. Stopped again, the new reason counts.
         */
        post: operations["stopHost"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * See how the whole of it is now
         * @description What runs, what waits and for whom, what fails, is off or rejected. Tests by hand and `./waybell listen` count in none of it. A part that cannot be had now is null.
         */
        get: operations["getOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** See what waits in every queue, and in Postgres for RabbitMQ */
        get: operations["listQueues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what the line refused
         * @description Oldest first. The same as `./waybell rejected list`.
         */
        get: operations["listRejected"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id or message id, the guid of the event, or any key that only this one names; of a key with slashes, `/v1/admin/rejected?about=` tells the id. */
                id: string;
            };
            cookie?: never;
        };
        /** See a rejected message and its body */
        get: operations["getRejected"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected/{id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the one that it is meant for: it is not looked for. */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check a corrected event, without publishing it
         * @description Send what is to be published. The answer is what publishing it would say of it; RabbitMQ is not asked, and nothing changes.
         */
        post: operations["checkCorrected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected/{id}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id. */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish a rejected event, corrected
         * @description Send the event as it is to be published, digit for digit, up to 1 MiB. It is checked as `./waybell publish` checks it, and takes the place of the rejected one once RabbitMQ has confirmed it.
         */
        post: operations["publishCorrected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected/purge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete rejected messages for good
         * @description Say which by exactly one member. Without `confirm` nothing is deleted. The same as `./waybell rejected purge`.
         */
        post: operations["purgeRejected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/rejected/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put rejected messages back on the line
         * @description Puts them back where they came from; each is removed once RabbitMQ has confirmed it. Say which by exactly one member. The same as `./waybell rejected retry`.
         */
        post: operations["retryRejected"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/stops": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the subscriptions and the hosts that are stopped
         * @description The one that was stopped last comes first.
         */
        get: operations["listStops"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/subscriptions/{guid}/start": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a stopped subscription go on
         * @description What waits is sent now, unless it is paused, or its host is stopped.
         */
        post: operations["startSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/subscriptions/{guid}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have the deliveries of a subscription wait
         * @description Until it is started, or they are too old. Its client sees that, and why, and cannot end it: a new subscription is still stopped. Stopped again, the new reason counts.
         */
        post: operations["stopSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/switched-off": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the subscriptions that are switched off now
         * @description The one that was switched off last comes first.
         */
        get: operations["listSwitchedOff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** See whose the access token of the request is */
        get: operations["getOwnToken"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/tokens/{guid}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End an access token at once
         * @description Once more is fine.
         */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what waits, and why
         * @description What has waited longest first. The same as `./waybell waiting list`.
         */
        get: operations["listWaiting"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tell why a callback did, or did not, arrive
         * @description By an order number, a VIN, or the guid of anything: an event, a delivery, an order, a subscription, an account; an account also by its name. Where nothing is called exactly that, by a part of an account's name, the first eight digits of a guid (but for what events are about), or the host or the URL of subscriptions. What it is is found out; what may mean several things is listed, up to 20 of a kind. The same as `./waybell why`. Proxies change what a path has, such as an encoded slash, and leave a query as it is: ask so where people choose the key.
         */
        get: operations["whyByQuery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/why/{anything}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                anything: string;
            };
            cookie?: never;
        };
        /**
         * Tell why a callback did, or did not, arrive
         * @description By an order number, a VIN, or the guid of anything: an event, a delivery, an order, a subscription, an account; an account also by its name. Where nothing is called exactly that, by a part of an account's name, the first eight digits of a guid (but for what events are about), or the host or the URL of subscriptions. What it is is found out; what may mean several things is listed, up to 20 of a kind. The same as `./waybell why`. With slashes, dots or `%` in it, ask `/v1/admin/why?anything=`.
         */
        get: operations["why"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AccessToken: {
            client_id: components["schemas"]["ClientId"];
            /**
             * @description Of the token of a link to the console, which is none until that is opened; else null.
             * @enum {unknown}
             */
            console_link: "unopened" | "opened" | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description Null: it holds until it is revoked.
             */
            expires_at: string | null;
            /** Format: uuid */
            guid: string;
            /**
             * Format: date-time
             * @description To the minute; null: never.
             */
            last_used_at: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            scopes: components["schemas"]["Scopes"];
        };
        Account: {
            /**
             * Format: date-time
             * @description Null: it is open.
             */
            closed_at: string | null;
            features: components["schemas"]["Feature"][];
            /**
             * Format: uuid
             * @description By which events name it.
             */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /**
             * @description What people call it.
             * @example Acme
             */
            name: string | null;
        };
        AccountClient: {
            client_id: components["schemas"]["ClientId"];
            /** @description Current ones. */
            subscriptions: number;
            /** @description Of these, switched off. */
            switched_off: number;
            /**
             * Format: date-time
             * @description Of any of them, to the minute; null: never.
             */
            token_last_used_at: string | null;
            /** @description Access tokens that hold; JWTs are not among them. */
            tokens: number;
        };
        AccountClosing: {
            account: components["schemas"]["Account"];
            /** @description Links that can be opened, and sign-ins by others. */
            console_links: number;
            credentials: number;
            listeners: number;
            signing_secrets: number;
            subscriptions: number;
            tokens: number;
            /** @description Deliveries that wait for them in the database, counted up to 10,000. */
            waiting: number;
        };
        AccountName: {
            /** Format: uuid */
            guid: string;
            /** @description Null: it has none, or Waybell does not know the account. */
            name: string | null;
        };
        /** @description What was asked by may be this. Ask again by its guid, or with `as`, and for a key with `kind`. */
        Candidate: {
            /**
             * Format: date-time
             * @description When the last one of those counted was looked at.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** @description How many there are; 1,000: or more. */
            events: number;
            key: string;
            /** @example order_id */
            key_kind: string;
            /** @constant */
            kind: "key";
        } | {
            action: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @constant */
            kind: "event";
        } | {
            account: components["schemas"]["AccountName"];
            action: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            client_id: string;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @constant */
            kind: "delivery";
        } | {
            account: components["schemas"]["AccountName"];
            action: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            client_id: string;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @constant */
            kind: "subscription";
            /** @description Without its query. */
            url: string;
        } | {
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @constant */
            kind: "account";
            name: string | null;
        };
        Change: {
            /** @description Null where it is of none: a host. */
            account: components["schemas"]["AccountName"] | null;
            /** @description Of the subscription; null: of something else, or it is gone. */
            action: string | null;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** @description Whose token it was done by; null: by none, or it is gone. */
            by: {
                account: components["schemas"]["AccountName"];
                client_id: string;
            } | null;
            /** @description Where callbacks led to before, if that changed. */
            callback_origin_before: string | null;
            /** @description Of the subscription or the token. */
            client_id: string | null;
            /** @description The new values of what changed. */
            details: Record<string, never>;
            /** @description An address, or a person at a machine. */
            origin: string | null;
            /**
             * Format: uuid
             * @description Null outside of a request.
             */
            request_id: string | null;
            /**
             * Format: uuid
             * @description The account, token, signing secret or subscription; null: a host.
             */
            subject_guid: string | null;
            /** @example subscription.changed */
            what: string;
            /**
             * @example token 3d1c2f0a-6f5e-4a3f-9a55-0c8f2f0f7d11
             * @example command line
             */
            who: string;
        };
        /**
         * @description 1 to 200 visible ASCII characters
         * @example tms
         */
        ClientId: string;
        CorrectedEvent: {
            /** Format: uuid */
            event_guid: string;
            routing_key: string;
            /** @description Members that the contract does not know: notifications leave them out. */
            unknown_members: string[];
        };
        /**
         * @description a number and a unit, such as 250ms, 4s, 1m, 24h or 90d
         * @example 90d
         */
        Duration: string;
        Failing: {
            /** @description Subscriptions that get nothing now, or missed what was not replayed, the latest first. */
            interrupted: {
                objects: components["schemas"]["Interrupted"][];
            };
            /** @description What the platform was told last, the latest first. */
            notices: {
                objects: components["schemas"]["OperationsNotice"][];
            };
            /** @description Where attempts fail most. */
            origins: {
                objects: components["schemas"]["FailingOrigin"][];
            };
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            since: string;
            /** @description The oldest deliveries without an end. */
            undelivered: {
                objects: components["schemas"]["Undelivered"][];
            };
            /** @description Endpoints that deliveries wait for; what has waited longest comes first. */
            waiting: {
                objects: components["schemas"]["WaitingEndpoint"][];
            };
        };
        FailingOrigin: {
            account: components["schemas"]["AccountName"];
            attempts: number;
            /** @description Attempts that failed, of `attempts`. */
            failed: number;
            /** @example https://receiver.example.com */
            origin: string;
            /** @description The most frequent one. */
            reason: string;
        };
        /** @enum {string} */
        Feature: "insurance" | "servicepay";
        GoingOn: {
            /** Format: uuid */
            account_guid: string;
            client_id: components["schemas"]["ClientId"];
            /** @description Of the client. */
            subscriptions: number;
            /** @description Of the account, where it has no access token any more; else 0. JWTs are not known. */
            subscriptions_of_account: number;
        };
        HeldDeactivation: {
            account: components["schemas"]["AccountName"];
            action: string;
            client_id: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The delivery that did it; null: it is not known.
             */
            delivery_guid: string | null;
            /** Format: uuid */
            guid: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            held_at: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /**
             * @description Which rule switched it off, or would.
             * @enum {unknown}
             */
            rule: "exhausted" | "window";
            /** @description Without its query. */
            url: string;
        };
        Interrupted: {
            account: components["schemas"]["AccountName"];
            action: string;
            client_id: string;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @description As the delivery log knows, up to 1,000 of a kind. Null: it waits. */
            missed: number | null;
            /** @description The rule that switched it off, or why an operator stopped it. */
            reason: string | null;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            since: string | null;
            /**
             * @description `missed`: it is on again, and what it missed was not replayed.
             * @enum {unknown}
             */
            state: "off" | "stopped" | "paused" | "missed";
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            until: string | null;
            /** @description Without its query. */
            url: string;
        };
        OperationsNotice: {
            /** Format: uuid */
            account_guid: string;
            /** @description What operators call the account. */
            account_name: string | null;
            /** @description Null where deliveries of several subscriptions wait for one endpoint, and of a certificate. */
            action: string | null;
            /** Format: date-time */
            at: string;
            /** @description Without its query. */
            callback_url: string | null;
            client_id: string;
            /** @description How many deliveries failed since the notice before; how many wait, up to 1,000. */
            count: number | null;
            /**
             * Format: uuid
             * @description The delivery that caused it, or the last one that failed.
             */
            delivery_guid: string | null;
            /**
             * Format: date-time
             * @description Of `certificate.ending`: when it ends, or ended.
             */
            ends_at: string | null;
            /**
             * Format: uuid
             * @description Of the notice: one may come twice.
             */
            guid: string;
            /** @description Of `certificate.ending`: the host, and port, at which callbacks authenticate by the certificate. */
            host: string | null;
            /** @enum {string} */
            interface: "shipper" | "carrier";
            /** @enum {string} */
            kind: "subscription.switched_off" | "subscription.switched_on" | "subscription.ended" | "subscription.held" | "delivery.exhausted" | "endpoint.waiting" | "certificate.ending";
            /** @description What the subscription missed while it was off, for a replay of `missed`. `count` is what the delivery log knows at that time, up to 1,000 of each kind; 0 as it goes off. */
            missed: {
                /** @description Null where it was not counted. */
                count: number | null;
                /** Format: date-time */
                since: string;
                /**
                 * Format: date-time
                 * @description Null while it is off.
                 */
                until: string | null;
            } | null;
            /** @description Of `switched_off` and `held` the rule, `exhausted` or `window`; of `switched_on` `switched_on`, or `held_back` where so many went off at once that the fault may be ours; of `ended` `unsubscribed`, `gone`, or `closed` with its account; of `delivery.exhausted` why the last one failed; of `endpoint.waiting` why most wait. */
            reason: string | null;
            /**
             * Format: date-time
             * @description Of `switched_off` and `held` when it began to fail; of `switched_on` when it had gone off; of `delivery.exhausted` when the first of those told failed; of `endpoint.waiting` since when the first waits.
             */
            since: string | null;
            /** @description What the receiver answered last, if it did. */
            status: number | null;
            /**
             * Format: uuid
             * @description Null where `action` is.
             */
            subscription_guid: string | null;
        };
        OperatorDelivery: {
            account: components["schemas"]["AccountName"];
            action: string;
            /**
             * Format: date-time
             * @description When it was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            attempts: {
                /** @description The beginning of the answer's body, or of what came where that was no whole answer. Only where one delivery is asked for. */
                answer?: string;
                /**
                 * Format: date-time
                 * @description When it ended.
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                /** @description As `X-Webhook-Attempt`. */
                attempt: number;
                /** @description With `invalid_response`: why what came is no response of HTTP, in words. */
                broken_rule?: string;
                /**
                 * @description Only where no event caused it.
                 * @enum {unknown}
                 */
                by_hand?: "resend" | "test";
                connect_ms?: number;
                /** @description With the next two: of the connection, where one was made for this attempt. */
                dns_ms?: number;
                /** @description From its start until the receiver had answered, or it was given up. */
                duration_ms?: number;
                /** @description Where no status came: what OpenSSL or the system said, such as `ERR_SSL_DH_KEY_TOO_SMALL`. */
                error?: string;
                /** @description From the start of the attempt until the status line. */
                first_byte_ms?: number;
                /** @description What the receiver answered. */
                http_status?: number;
                /** @description The address connected to. */
                ip?: string;
                /**
                 * @description `failed`: another follows at `retry_at`. `exhausted`: it was the last one, the delivery is given up. `dropped`: no request was made.
                 * @enum {unknown}
                 */
                kind: "delivered" | "failed" | "exhausted" | "dropped";
                /** @description With `redirect`: where it leads; values in the query are `***`. */
                location?: string;
                /** @description What the reason says, for people. */
                meaning?: string;
                /**
                 * @description Of those that failure-reasons.md lists.
                 * @example response_timeout
                 */
                reason?: string;
                /** @description What can be done about it, for people. */
                remedy?: string;
                /**
                 * Format: date-time
                 * @description When the next attempt is due.
                 * @example 2026-11-20T09:30:00.123Z
                 */
                retry_at?: string;
                /**
                 * Format: uuid
                 * @description It may be another than the first: see resends.
                 */
                subscription_guid: string;
                tls_ms?: number;
                /** @description Where the request went, or was to go; values in the query are `***`. */
                url?: string;
                /**
                 * @description Only where it waited before, and why. `full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies.
                 * @enum {unknown}
                 */
                waited?: "full" | "hung" | "busy" | "paused" | "stopped" | "egress" | "open";
            }[];
            client_id: string;
            /** @description Only where its end switched the subscription off. */
            deactivation?: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                /** @enum {unknown} */
                rule: "exhausted" | "window";
            };
            /** Format: uuid */
            event_guid: string;
            /**
             * Format: uuid
             * @description As `webhook-id`.
             */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /** @description What it is about: order, vehicles, offer and so on, by each name. None where the log does not have its event any more. */
            keys: {
                /** @example 4711 */
                key: string;
                /**
                 * @example order_guid
                 * @example order_id
                 * @example vin
                 */
                kind: string;
            }[];
            /** @description What the reason says, for people. */
            meaning?: string;
            /**
             * Format: date-time
             * @description While it is retried.
             * @example 2026-11-20T09:30:00.123Z
             */
            next_attempt_at?: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example response_timeout
             */
            reason?: string;
            /** @description What can be done about it, for people. */
            remedy?: string;
            /**
             * @description `waiting`: for its first attempt. `retrying`: the last attempt failed, another is due. `exhausted`: given up after the last. `dropped`: there was no subscription any more to send it to.
             * @enum {unknown}
             */
            status: "waiting" | "retrying" | "delivered" | "exhausted" | "dropped" | "rejected";
            /** Format: uuid */
            subscription_guid: string;
            /** @description Only while it waits in Postgres: nearly always for its endpoint (account, scheme, host, port and path). */
            waiting?: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                since: string;
                /**
                 * @description `full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies.
                 * @enum {unknown}
                 */
                why: "full" | "hung" | "busy" | "paused" | "stopped" | "egress" | "open";
            };
        };
        OperatorEvent: {
            action: string;
            /**
             * Format: date-time
             * @description When it was looked at.
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            /** Format: uuid */
            event_guid: string;
            /**
             * @description Null where it could not be told of what was rejected.
             * @enum {unknown}
             */
            interface: "shipper" | "carrier" | null;
            /** @description What it is about: order, vehicles, offer and so on, by each name. */
            keys: {
                /** @example 4711 */
                key: string;
                /**
                 * @example order_guid
                 * @example order_id
                 * @example vin
                 */
                kind: string;
            }[];
            receivers: components["schemas"]["AccountName"][];
            verdicts: components["schemas"]["OperatorVerdict"][];
        };
        OperatorSubscription: {
            account: components["schemas"]["AccountName"];
            action: string;
            client_id: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Null: it is a current one.
             * @example 2026-11-20T09:30:00.123Z
             */
            ended_at: string | null;
            /**
             * Format: date-time
             * @description Since when its attempts fail; null: the last one did not.
             * @example 2026-11-20T09:30:00.123Z
             */
            failing_since?: string | null;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /**
             * Format: date-time
             * @description When its last successful attempt ended; null: none has.
             * @example 2026-11-20T09:30:00.123Z
             */
            last_success_at?: string | null;
            /**
             * Format: date-time
             * @description Null: its client has not paused it.
             * @example 2026-11-20T09:30:00.123Z
             */
            paused_until: string | null;
            /** @enum {unknown} */
            standing: "active" | "switched_off" | "ended";
            /** @description Null: neither it nor its host is stopped by an operator. */
            stopped: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                reason: string;
            } | null;
            /** @description When a rule switched it off, and when its client subscribed again, the first one first. */
            switches: {
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                at: string;
                is_on: boolean;
                /**
                 * @description Which rule switched it off.
                 * @enum {unknown}
                 */
                rule?: "exhausted" | "window" | "unknown";
            }[];
            /** @description Without its query. */
            url: string;
        };
        /** @description What an event came to: a delivery, or why there is none. */
        OperatorVerdict: {
            delivery: components["schemas"]["OperatorDelivery"];
            /** @constant */
            kind: "delivery";
        } | {
            account?: components["schemas"]["AccountName"];
            /**
             * @description Only with `no_subscription`: how it came about that there was none.
             * @enum {unknown}
             */
            cause?: "unknown_account" | "never_subscribed" | "switched_off" | "ended" | "subscribed_later";
            /**
             * Format: date-time
             * @description Since when it was switched off, when it had ended, or when it was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            cause_at?: string;
            client_id?: string;
            /** @constant */
            kind: "suppressed";
            /** @description What the reason says, for people. */
            meaning: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example response_timeout
             */
            reason: string;
            /** @description What can be done about it, for people. */
            remedy: string;
            /**
             * @description Which rule switched it off.
             * @enum {unknown}
             */
            rule?: "exhausted" | "window";
            /**
             * Format: uuid
             * @description Which one it was that got nothing, was off, had ended, or came later.
             */
            subscription_guid?: string;
        } | {
            /** Format: uuid */
            delivery_guid?: string;
            /** @description What of the event broke which rule. */
            detail: string;
            /** @constant */
            kind: "rejected";
            /** @description What the reason says, for people. */
            meaning: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example response_timeout
             */
            reason: string;
            /** @description What can be done about it, for people. */
            remedy: string;
        };
        Overview: {
            /** @description Null: it could not be counted in time. */
            last_hour: {
                attempts: number;
                /** @description Attempts that failed, of `attempts`. */
                failed: number;
                /**
                 * Format: date-time
                 * @description Null: none was.
                 * @example 2026-11-20T09:30:00.123Z
                 */
                last_rejected_at: string | null;
                /** @description The oldest delivery without an end; null: all have ended. */
                oldest_unfinished: components["schemas"]["Undelivered"] | null;
                /** @description Events that were rejected. */
                rejected: number;
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                since: string;
            } | null;
            /** @description Null: RabbitMQ does not say. */
            queues: {
                /** @description In all queues but those of rejected messages and for upstream. */
                messages: number;
                /** @description Queues that no service takes from, or without a leader. */
                unattended: number;
            } | null;
            /** @description Rejected messages; null: RabbitMQ does not say. */
            rejected: number | null;
            services: {
                objects: components["schemas"]["RunningService"][];
            };
            stopped: {
                hosts: number;
                subscriptions: number;
            };
            switched_off: {
                /** @description Those that would be off, if that were not held. */
                held: number;
                /** @description Those of them that went off since then. */
                lately: number;
                /** @description Subscriptions that are off, as a rule switched them off. */
                now: number;
                /**
                 * Format: date-time
                 * @example 2026-11-20T09:30:00.123Z
                 */
                since: string;
            };
            /** @description Deliveries that wait for their endpoint. */
            waiting: {
                /** @description As the deliverers counted them about a second ago. */
                deliveries: number;
                endpoints: number;
                /** @description The five that have waited longest. */
                longest: {
                    objects: components["schemas"]["WaitingEndpoint"][];
                };
                /**
                 * Format: date-time
                 * @description When the oldest delivery was made; null: none waits.
                 * @example 2026-11-20T09:30:00.123Z
                 */
                oldest_at: string | null;
                /** @description Endpoints that take nothing, of `endpoints`. */
                shut: number;
            };
        };
        /** @description An error, as RFC 9457 says. Tell kinds apart by `type`; texts may change. */
        Problem: {
            /** @description What is wrong with this request, for people. */
            detail: string;
            /** @description With 422: every rule that the body, or the parameters, break. */
            errors?: {
                detail: string;
                /** @description Which parameter of the path or the query. */
                parameter?: string;
                /** @description Where in the body, a JSON Pointer as a URI fragment. */
                pointer?: string;
            }[];
            /**
             * Format: uuid
             * @description The id of the request: name it when you ask for help.
             */
            instance: string;
            status: number;
            title: string;
            /** Format: uri */
            type: string;
        };
        Purged: {
            /** @description How many were deleted, or would be. */
            count: number;
            /** @description False: there was no time for all that lie there. Ask again. */
            is_complete: boolean;
            /** @description False: it was not confirmed, and they are still there. */
            is_deleted: boolean;
            /** @description The first 1,000. */
            objects: components["schemas"]["Rejected"][];
        };
        Queue: {
            consumers: number;
            /** @description False: RabbitMQ answered in a way that it answers in when it does not know. */
            is_known: boolean;
            /** @description Ready to be taken. */
            messages: number;
            name: string;
        };
        Queues: {
            objects: components["schemas"]["Queue"][];
            /** @description What waits in Postgres as RabbitMQ does not accept it; what has waited longest comes first. */
            waiting: {
                objects: components["schemas"]["WaitingDestination"][];
            };
        };
        Rejected: {
            content_encoding?: string;
            content_type?: string;
            correlation_id?: string;
            /** @description What exactly is wrong; may be empty. */
            detail: string;
            /** @description By which it had come. */
            exchange: string;
            /** @description Made of the message itself: the same as long as it lies there. */
            id: string;
            message_id?: string;
            /** @description Where it was rejected. */
            queue: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example payload_invalid
             */
            reason: string;
            /** Format: date-time */
            rejected_at: string | null;
            routing_key: string;
            /** @description Of its body, in bytes. */
            size: number;
            traceparent?: string;
            type?: string;
            /** @description Who published it, where RabbitMQ has checked that. */
            user_id?: string;
        };
        RejectedDetail: {
            /** @description Decompressed; records of what became of deliveries as they read. */
            body: string;
            /**
             * @description `base64`: it is no text, and told as it lies there.
             * @enum {unknown}
             */
            body_encoding: "utf-8" | "base64";
            content_encoding?: string;
            content_type?: string;
            correlation_id?: string;
            /** @description What exactly is wrong; may be empty. */
            detail: string;
            /** @description By which it had come. */
            exchange: string;
            /** @description Made of the message itself: the same as long as it lies there. */
            id: string;
            message_id?: string;
            /** @description Where it was rejected. */
            queue: string;
            /**
             * @description Of those that failure-reasons.md lists.
             * @example payload_invalid
             */
            reason: string;
            /** Format: date-time */
            rejected_at: string | null;
            routing_key: string;
            /** @description Of its body, in bytes. */
            size: number;
            traceparent?: string;
            type?: string;
            /** @description Who published it, where RabbitMQ has checked that. */
            user_id?: string;
        };
        RejectedList: {
            /** @description False: there was no time for all that lie there. Ask again. */
            is_complete: boolean;
            objects: components["schemas"]["Rejected"][];
        };
        Retried: {
            /** @description False: there was no time for all that lie there. Ask again. */
            is_complete: boolean;
            /** @description What became of the first 1,000. */
            objects: ({
                id: string;
                /** @constant */
                kind: "retried";
                /** @description Where it went. */
                to: string;
            } | {
                id: string;
                /** @constant */
                kind: "stays";
                why: string;
            })[];
            /** @description How many are back on the line; what is still wrong is rejected again. */
            retried: number;
            stayed: number;
        };
        RunningService: {
            /**
             * Format: date-time
             * @description When the newest of them started.
             * @example 2026-11-20T09:30:00.123Z
             */
            last_started_at: string | null;
            /** @description How many are connected to Postgres, as each is as long as it runs. A setting `application_name` in DATABASE_URL hides them. */
            processes: number;
            /**
             * Format: date-time
             * @description When one of them last asked Postgres something: five seconds ago at most, unless all of them hang. Null also where the API’s user may not see it (`pg_read_all_stats`).
             * @example 2026-11-20T09:30:00.123Z
             */
            seen_at: string | null;
            /** @example deliverer */
            service: string;
            /** @description Those of them that have asked nothing for 15 seconds: they hang, or do not reach it. */
            silent: number;
            /**
             * Format: date-time
             * @description Since when the first of those has asked nothing; null: none is silent.
             * @example 2026-11-20T09:30:00.123Z
             */
            silent_since: string | null;
            /**
             * Format: date-time
             * @description When the oldest of them started; null: none runs.
             * @example 2026-11-20T09:30:00.123Z
             */
            started_at: string | null;
            /** @description Queues from which it takes and nobody does now, or without a leader; null: RabbitMQ does not say. */
            unattended: number | null;
        };
        Scopes: ("webhooks:read" | "webhooks:write" | "admin")[];
        StoppedHost: {
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            host: string;
            reason: string;
            /** @description Current ones whose callbacks go there. */
            subscriptions: number;
        };
        Stops: {
            hosts: components["schemas"]["StoppedHost"][];
            /** @description Also those that their clients ended: new ones are still stopped. */
            subscriptions: components["schemas"]["OperatorSubscription"][];
        };
        SwitchedOff: {
            account: components["schemas"]["AccountName"];
            action: string;
            client_id: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            created_at: string;
            /**
             * Format: uuid
             * @description The delivery that did it; null: it is not known.
             */
            delivery_guid: string | null;
            /** Format: uuid */
            guid: string;
            /** @enum {unknown} */
            interface: "shipper" | "carrier";
            /**
             * @description Which rule switched it off, or would.
             * @enum {unknown}
             */
            rule: "exhausted" | "window";
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            switched_off_at: string;
            /** @description Without its query. */
            url: string;
        };
        /** @description What is known. `several`: it means several things. */
        Told: {
            /** @constant */
            kind: "several";
            objects: components["schemas"]["Candidate"][];
        } | {
            /** @constant */
            kind: "events";
            /** @description The `cursor` of the next page; null: there is none. */
            next: string | null;
            objects: components["schemas"]["OperatorEvent"][];
        } | {
            delivery: components["schemas"]["OperatorDelivery"];
            /** @constant */
            kind: "delivery";
        } | {
            deliveries: components["schemas"]["OperatorDelivery"][];
            /** @constant */
            kind: "subscription";
            subscription: components["schemas"]["OperatorSubscription"];
        } | {
            account: components["schemas"]["Account"];
            /** @description The latest. */
            deliveries: components["schemas"]["OperatorDelivery"][];
            /** @constant */
            kind: "account";
            /** @description Current ones; the account has a list of all. */
            subscriptions: components["schemas"]["OperatorSubscription"][];
        };
        Undelivered: {
            account: components["schemas"]["AccountName"];
            action: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:30:00.123Z
             */
            at: string;
            attempts: number;
            /** Format: uuid */
            guid: string;
        };
        Waiting: {
            /** @description What waits in Postgres as RabbitMQ does not accept it; what has waited longest comes first. */
            destinations: {
                objects: components["schemas"]["WaitingDestination"][];
            };
            /** @description Endpoints that deliveries wait for; what has waited longest comes first. */
            endpoints: {
                objects: components["schemas"]["WaitingEndpoint"][];
            };
        };
        WaitingDestination: {
            bytes: number;
            exchange: string;
            /** @description Whether a process that lives has it in hand. */
            is_claimed: boolean;
            /**
             * Format: date-time
             * @description When a process is to look at it next; null while one has it in hand.
             * @example 2026-11-20T09:30:00.123Z
             */
            next_try_at: string | null;
            /**
             * Format: date-time
             * @description When the oldest of them was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            oldest_at: string;
            publications: number;
            routing_key: string;
            /**
             * @description Whose it is.
             * @example event-router
             */
            service: string;
            /**
             * Format: date-time
             * @description Since when it has taken nothing; null: it answers, and takes some.
             * @example 2026-11-20T09:30:00.123Z
             */
            shut_since: string | null;
        };
        WaitingEndpoint: {
            account: components["schemas"]["AccountName"];
            bytes: number;
            deliveries: number;
            /** @description Whether a process that lives has it in hand. */
            is_claimed: boolean;
            /** @description False: there are more than 10,000. What is told is then of 10,000 of them. */
            is_complete: boolean;
            /**
             * Format: date-time
             * @description When a process is to look at it next; null while one has it in hand.
             * @example 2026-11-20T09:30:00.123Z
             */
            next_try_at: string | null;
            /**
             * Format: date-time
             * @description When the oldest of them was made.
             * @example 2026-11-20T09:30:00.123Z
             */
            oldest_at: string;
            /**
             * Format: date-time
             * @description Since when it has taken nothing; null: it answers, and takes some.
             * @example 2026-11-20T09:30:00.123Z
             */
            shut_since: string | null;
            /** @description Those that something waits for. */
            subscription_guids: string[];
            /** @description Without its query; null: no subscription has it any more. */
            url: string | null;
            /** @description `full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies. */
            why: ("full" | "hung" | "busy" | "paused" | "stopped" | "egress" | "open")[];
        };
    };
    responses: {
        /** @description The headers are too large (`urn:waybell:problem:headers-too-large`). */
        HeadersTooLarge: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is malformed (`urn:waybell:problem:malformed-request`). */
        MalformedRequest: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The method is not allowed here (`urn:waybell:problem:method-not-allowed`). */
        MethodNotAllowed: {
            headers: {
                allow: components["headers"]["Allow"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request did not end in time (`urn:waybell:problem:request-timeout`). */
        RequestTimeout: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description There is nothing here (`urn:waybell:problem:unknown-path`). */
        UnknownPath: {
            headers: {
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The methods that the path has. */
        Allow: string;
        /** @description How long it may be kept. */
        CacheControl: string;
        /** @description Only where the action is deprecated: since when, as RFC 9745 says. */
        Deprecation: string;
        /** @description Changes with the document. */
        ETag: string;
        /** @description What is left of the requests of the token (`r`), and in how many seconds that ends (`t`). */
        RateLimit: string;
        /** @description How many requests a token has (`q`) in how many seconds (`w`). */
        RateLimitPolicy: string;
        /** @description Identifies the request; an error has it as `instance`. */
        RequestId: string;
        /** @description Seconds after which to ask again. */
        RetryAfter: string;
        /** @description Only where the action is deprecated: until when, as RFC 8594 says. */
        Sunset: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getRoot: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: never;
    };
    getAdminOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "cache-control": components["headers"]["CacheControl"];
                    etag: components["headers"]["ETag"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                /** @description The `next` of the page before. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Up to 1,000 accounts, by guid. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Null: there are no more.
                         */
                        next: string | null;
                        objects: components["schemas"]["Account"][];
                    };
                };
            };
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    features?: components["schemas"]["Feature"][];
                    /** Format: uuid */
                    guid?: string;
                    /** @enum {unknown} */
                    interface: "shipper" | "carrier";
                    /**
                     * @description a name of at most 200 printable characters; null or an empty one for none
                     * @example Acme
                     */
                    name?: string | null;
                };
            };
        };
        responses: {
            /** @description The account. */
            201: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The account. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    updateAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    add_features?: components["schemas"]["Feature"][];
                    /**
                     * @description a name of at most 200 printable characters; null or an empty one for none
                     * @example Acme
                     */
                    name?: string | null;
                    remove_features?: components["schemas"]["Feature"][];
                };
            };
        };
        responses: {
            /** @description The account as it is now. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    listClients: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The clients. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        objects: components["schemas"]["AccountClient"][];
                    };
                };
            };
        };
    };
    closeAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description Whether to say only what would end.
                     * @default false
                     */
                    dry_run?: boolean;
                };
            };
        };
        responses: {
            /** @description What ended, or would. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountClosing"];
                };
            };
        };
    };
    createConsoleLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The client that the console is opened for; else `default`. */
                    client_id?: components["schemas"]["ClientId"];
                    /** @description How long it can be opened: a day at most; else 10m. */
                    expires_in?: components["schemas"]["Duration"];
                    /** @description What may be done there; else `webhooks:read`. */
                    scopes?: ("webhooks:read" | "webhooks:write")[];
                    /** @description How long one is signed in, from the opening on: a day at most; else 1h. */
                    token_expires_in?: components["schemas"]["Duration"];
                };
            };
        };
        responses: {
            /** @description The link, shown this once. */
            201: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * Format: date-time
                         * @example 2026-11-20T09:30:00.123Z
                         */
                        expires_at: string;
                        /**
                         * Format: uuid
                         * @description Of the access token that it is opened with.
                         */
                        guid: string;
                        /** @description Append it to the address at which clients reach the API. A page of the console may follow, such as `/deliveries`. */
                        path: string;
                    };
                };
            };
        };
    };
    openAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The account as it is now. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
        };
    };
    listSubscriptionsOfAccount: {
        parameters: {
            query?: {
                /** @description The `next` of the page before; what comes in meanwhile moves nothing. */
                cursor?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
            };
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscriptions. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The `cursor` of the next page; null: there is none. */
                        next: string | null;
                        objects: components["schemas"]["OperatorSubscription"][];
                    };
                };
            };
        };
    };
    listTokens: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The access tokens. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        objects: components["schemas"]["AccessToken"][];
                    };
                };
            };
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description Each has subscriptions of its own; else `default`. */
                    client_id?: components["schemas"]["ClientId"];
                    /** @description Without it, the token holds until it is revoked. */
                    expires_in?: components["schemas"]["Duration"];
                    scopes?: components["schemas"]["Scopes"];
                };
            };
        };
        responses: {
            /** @description The access token, shown this once. */
            201: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        guid: string;
                        token: string;
                    };
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description From this time on. */
                since?: string;
                /** @description Of this subscription alone. */
                subscription?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Changes. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        objects: components["schemas"]["Change"][];
                    };
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description An action of the interface. */
                action?: string;
                /** @description Of this client alone. */
                client?: components["schemas"]["ClientId"];
                /** @description The `next` of the page before; what comes in meanwhile moves nothing. */
                cursor?: string;
                /** @description To subscriptions whose callbacks go there now: a host, also with its port, an origin, or a URL, of which the query does not count. */
                endpoint?: string;
                /** @description The guid of a delivery or of its event, or the first eight digits of it. */
                guid?: string;
                /** @description What they are about, as for the timeline. */
                key?: string;
                /** @description The kind of the key, where several things have the same. One that no key has is refused, with the names of those that there are. */
                kind?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
                /** @description Why they were given up or dropped; with `status=retrying`, why the last attempt failed. */
                reason?: "credentials_unavailable" | "dns" | "blocked_address" | "connect_refused" | "connect_timeout" | "unreachable" | "tls_name" | "tls_expired" | "tls_untrusted" | "tls_failed" | "tls_certificate_required" | "handover_timeout" | "response_timeout" | "reset" | "invalid_response" | "redirect" | "http_4xx" | "http_5xx" | "http_other" | "unknown" | "expired" | "parked_over_limit" | "unsubscribed" | "gone" | "closed" | "deactivated" | "feature_off" | "forgotten";
                /** @description Made at this time or later. */
                since?: string;
                /** @description How they stand: some of these, with commas between, such as `exhausted,dropped`. */
                status?: ("waiting" | "retrying" | "delivered" | "exhausted" | "dropped" | "rejected")[];
                /** @description To this subscription alone. */
                subscription?: string;
                /** @description Made before this time. */
                until?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deliveries. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The `cursor` of the next page; null: there is none. */
                        next: string | null;
                        objects: components["schemas"]["OperatorDelivery"][];
                    };
                };
            };
        };
    };
    listFailing: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
                /** @description From this time on; without it, of the last hour. */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What fails, each list by itself up to `limit`. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failing"];
                };
            };
        };
    };
    listHeldDeactivations: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscriptions. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        objects: components["schemas"]["HeldDeactivation"][];
                    };
                };
            };
        };
    };
    startHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Without a port. */
                host: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is no longer stopped. */
            204: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    stopHost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Without a port. */
                host: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description a text of 1 to 200 printable characters; clients see it
                     * @example the receiver is being moved
                     */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description The host. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoppedHost"];
                };
            };
        };
    };
    getOverview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Overview"];
                };
            };
        };
    };
    listQueues: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The queues that there are. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queues"];
                };
            };
        };
    };
    listRejected: {
        parameters: {
            query?: {
                /** @description Only those that name it anywhere in their text. */
                about?: string;
                /** @description How many, at most. */
                limit?: number;
                /** @description Only those of this reason. */
                reason?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Rejected messages, without their bodies. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RejectedList"];
                };
            };
        };
    };
    getRejected: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id or message id, the guid of the event, or any key that only this one names; of a key with slashes, `/v1/admin/rejected?about=` tells the id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The message. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RejectedDetail"];
                };
            };
        };
    };
    checkCorrected: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the one that it is meant for: it is not looked for. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It would be taken. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrectedEvent"];
                };
            };
        };
    };
    publishCorrected: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Its id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It is on the line, and the rejected one is gone. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrectedEvent"];
                };
            };
        };
    };
    purgeRejected: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description all that name a guid, a number, a VIN or another name of something
                     * @example 4711
                     */
                    about?: string;
                    /**
                     * @description All that lie there.
                     * @enum {boolean}
                     */
                    all?: true;
                    /**
                     * @description Without it, it is only told what would be deleted.
                     * @default false
                     */
                    confirm?: boolean;
                    /** @description Ids or message ids, or guids of events. */
                    ids?: string[];
                    /**
                     * @description All of this reason.
                     * @example payload_invalid
                     */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description What was, or would be, deleted. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Purged"];
                };
            };
        };
    };
    retryRejected: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description all that name a guid, a number, a VIN or another name of something
                     * @example 4711
                     */
                    about?: string;
                    /**
                     * @description All that lie there.
                     * @enum {boolean}
                     */
                    all?: true;
                    /** @description Ids or message ids, or guids of events. */
                    ids?: string[];
                    /**
                     * @description All of this reason.
                     * @example payload_invalid
                     */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description What became of them. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Retried"];
                };
            };
        };
    };
    listStops: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is stopped. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stops"];
                };
            };
        };
    };
    startSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description The subscription that its client has to the action now, or had last. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorSubscription"];
                };
            };
        };
    };
    stopSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description a text of 1 to 200 printable characters; clients see it
                     * @example the receiver is being moved
                     */
                    reason: string;
                };
            };
        };
        responses: {
            /** @description The subscription that its client has to the action now, or had last. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorSubscription"];
                };
            };
        };
    };
    listSwitchedOff: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subscriptions. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        objects: components["schemas"]["SwitchedOff"][];
                    };
                };
            };
        };
    };
    getOwnToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whose it is. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        account_guid: string;
                        /**
                         * @description What people call it.
                         * @example Acme
                         */
                        account_name: string | null;
                        /** @example default */
                        client_id: string;
                        scopes: ("webhooks:read" | "webhooks:write" | "admin")[];
                    };
                };
            };
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                guid: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description It no longer holds, and was the last of its client, whose subscriptions go on. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GoingOn"];
                };
            };
            /** @description It no longer holds. */
            204: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listWaiting: {
        parameters: {
            query?: {
                /** @description Of this account alone. */
                account?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What waits, each list by itself up to `limit`. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Waiting"];
                };
            };
        };
    };
    whyByQuery: {
        parameters: {
            query: {
                /** @description What is asked about. */
                anything: string;
                /** @description What it is, where it may mean several things. */
                as?: "event" | "delivery" | "key" | "subscription" | "account";
                /** @description The `next` of the page before; what comes in meanwhile moves nothing. */
                cursor?: string;
                /** @description The kind of the key, where several things have the same. One that no key has is refused, with the names of those that there are. */
                kind?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is known of it. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Told"];
                };
            };
        };
    };
    why: {
        parameters: {
            query?: {
                /** @description What it is, where it may mean several things. */
                as?: "event" | "delivery" | "key" | "subscription" | "account";
                /** @description The `next` of the page before; what comes in meanwhile moves nothing. */
                cursor?: string;
                /** @description The kind of the key, where several things have the same. One that no key has is refused, with the names of those that there are. */
                kind?: string;
                /** @description How many entries a page has at most. */
                limit?: number;
                /** @description Whether those of `./waybell listen` are meant, too. */
                listeners?: boolean;
            };
            header?: never;
            path: {
                anything: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is known of it. */
            200: {
                headers: {
                    ratelimit: components["headers"]["RateLimit"];
                    "ratelimit-policy": components["headers"]["RateLimitPolicy"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Told"];
                };
            };
        };
    };
}
