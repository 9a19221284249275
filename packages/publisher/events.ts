// Made from the catalog: `./waybell docs`. Not to be edited.
import type { ExactObject, ExactValue, Numeric } from '@waybell/events/exact-json';

/**
 * Published when order is created.
 */
export interface ShipperOrderCreatedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.created';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * what changed, and who changed it
     */
    revision: {
      /**
       * the revision
       */
      guid: string;
      /**
       * the user who made the change
       */
      user_guid?: string | null;
      /**
       * the carrier who made the change, where one did
       */
      carrier?: {
        /**
         * the carrier who made the change
         */
        guid: string;
        /**
         * carrier business name
         */
        name?: string | null;
        /**
         * carrier phone
         */
        phone?: string | null;
        /**
         * carrier e-mail
         */
        email?: string | null;
        /**
         * carrier contact person
         */
        contact_name?: string | null;
      } | null;
      /**
       * values after the change
       */
      after: {
        number?: ExactValue;
        purchase_order_number?: ExactValue;
        price?: ExactValue;
        transport_type?: ExactValue;
        inspection_type?: ExactValue;
        broker_fee?: ExactValue;
        order_instructions?: ExactValue;
        loadboard_instructions?: ExactValue;
        dispatcher_name?: ExactValue;
        sales_representative?: ExactValue;
        customer?: {
          name?: ExactValue;
          business_type?: ExactValue;
          address?: ExactValue;
          city?: ExactValue;
          state?: ExactValue;
          zip?: ExactValue;
          phone?: ExactValue;
          email?: ExactValue;
          contact_name?: ExactValue;
          contact_title?: ExactValue;
          contact_email?: ExactValue;
          contact_phone?: ExactValue;
          contact_mobile_phone?: ExactValue;
        } | null;
        payment?: {
          terms?: ExactValue;
          method?: ExactValue;
          notes?: ExactValue;
          amount?: ExactValue;
          reference_number?: ExactValue;
        } | null;
        customer_payment?: {
          terms?: ExactValue;
          method?: ExactValue;
          notes?: ExactValue;
          amount?: ExactValue;
          tariff?: ExactValue;
          deposit?: ExactValue;
          reference_number?: ExactValue;
        } | null;
        pickup?: {
          first_available_pickup_date?: ExactValue;
          date_type?: ExactValue;
          schedule_at_by_customer?: ExactValue;
          schedule_ends_at_by_customer?: ExactValue;
          scheduled_at?: ExactValue;
          schedule_ends_at?: ExactValue;
          schedule_at_by_carrier?: ExactValue;
          scheduled_at_by_carrier?: ExactValue;
          adjusted_date?: ExactValue;
          notes?: ExactValue;
          venue?: {
            name?: ExactValue;
            business_type?: ExactValue;
            address?: ExactValue;
            city?: ExactValue;
            state?: ExactValue;
            zip?: ExactValue;
            contact_name?: ExactValue;
            contact_title?: ExactValue;
            contact_email?: ExactValue;
            contact_phone?: ExactValue;
            contact_mobile_phone?: ExactValue;
          } | null;
        } | null;
        delivery?: {
          date_type?: ExactValue;
          schedule_at_by_customer?: ExactValue;
          schedule_ends_at_by_customer?: ExactValue;
          scheduled_at?: ExactValue;
          schedule_ends_at?: ExactValue;
          schedule_at_by_carrier?: ExactValue;
          scheduled_at_by_carrier?: ExactValue;
          adjusted_date?: ExactValue;
          notes?: ExactValue;
          venue?: {
            name?: ExactValue;
            business_type?: ExactValue;
            address?: ExactValue;
            city?: ExactValue;
            state?: ExactValue;
            zip?: ExactValue;
            contact_name?: ExactValue;
            contact_title?: ExactValue;
            contact_email?: ExactValue;
            contact_phone?: ExactValue;
            contact_mobile_phone?: ExactValue;
          } | null;
        } | null;
      };
    };
  };
}

/**
 * Published when order is updated.
 */
export interface ShipperOrderModifiedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.modified';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * what changed, and who changed it
     */
    revision: {
      /**
       * the revision
       */
      guid: string;
      /**
       * the user who made the change
       */
      user_guid?: string | null;
      /**
       * the carrier who made the change, where one did
       */
      carrier?: {
        /**
         * the carrier who made the change
         */
        guid: string;
        /**
         * carrier business name
         */
        name?: string | null;
        /**
         * carrier phone
         */
        phone?: string | null;
        /**
         * carrier e-mail
         */
        email?: string | null;
        /**
         * carrier contact person
         */
        contact_name?: string | null;
      } | null;
      /**
       * values before the change
       */
      before: {
        number?: ExactValue;
        purchase_order_number?: ExactValue;
        price?: ExactValue;
        transport_type?: ExactValue;
        inspection_type?: ExactValue;
        broker_fee?: ExactValue;
        order_instructions?: ExactValue;
        loadboard_instructions?: ExactValue;
        dispatcher_name?: ExactValue;
        sales_representative?: ExactValue;
        customer?: {
          name?: ExactValue;
          business_type?: ExactValue;
          address?: ExactValue;
          city?: ExactValue;
          state?: ExactValue;
          zip?: ExactValue;
          phone?: ExactValue;
          email?: ExactValue;
          contact_name?: ExactValue;
          contact_title?: ExactValue;
          contact_email?: ExactValue;
          contact_phone?: ExactValue;
          contact_mobile_phone?: ExactValue;
        } | null;
        payment?: {
          terms?: ExactValue;
          method?: ExactValue;
          notes?: ExactValue;
          amount?: ExactValue;
          reference_number?: ExactValue;
        } | null;
        customer_payment?: {
          terms?: ExactValue;
          method?: ExactValue;
          notes?: ExactValue;
          amount?: ExactValue;
          tariff?: ExactValue;
          deposit?: ExactValue;
          reference_number?: ExactValue;
        } | null;
        pickup?: {
          first_available_pickup_date?: ExactValue;
          date_type?: ExactValue;
          schedule_at_by_customer?: ExactValue;
          schedule_ends_at_by_customer?: ExactValue;
          scheduled_at?: ExactValue;
          schedule_ends_at?: ExactValue;
          schedule_at_by_carrier?: ExactValue;
          scheduled_at_by_carrier?: ExactValue;
          adjusted_date?: ExactValue;
          notes?: ExactValue;
          venue?: {
            name?: ExactValue;
            business_type?: ExactValue;
            address?: ExactValue;
            city?: ExactValue;
            state?: ExactValue;
            zip?: ExactValue;
            contact_name?: ExactValue;
            contact_title?: ExactValue;
            contact_email?: ExactValue;
            contact_phone?: ExactValue;
            contact_mobile_phone?: ExactValue;
          } | null;
        } | null;
        delivery?: {
          date_type?: ExactValue;
          schedule_at_by_customer?: ExactValue;
          schedule_ends_at_by_customer?: ExactValue;
          scheduled_at?: ExactValue;
          schedule_ends_at?: ExactValue;
          schedule_at_by_carrier?: ExactValue;
          scheduled_at_by_carrier?: ExactValue;
          adjusted_date?: ExactValue;
          notes?: ExactValue;
          venue?: {
            name?: ExactValue;
            business_type?: ExactValue;
            address?: ExactValue;
            city?: ExactValue;
            state?: ExactValue;
            zip?: ExactValue;
            contact_name?: ExactValue;
            contact_title?: ExactValue;
            contact_email?: ExactValue;
            contact_phone?: ExactValue;
            contact_mobile_phone?: ExactValue;
          } | null;
        } | null;
      };
      /**
       * values after the change
       */
      after: {
        number?: ExactValue;
        purchase_order_number?: ExactValue;
        price?: ExactValue;
        transport_type?: ExactValue;
        inspection_type?: ExactValue;
        broker_fee?: ExactValue;
        order_instructions?: ExactValue;
        loadboard_instructions?: ExactValue;
        dispatcher_name?: ExactValue;
        sales_representative?: ExactValue;
        customer?: {
          name?: ExactValue;
          business_type?: ExactValue;
          address?: ExactValue;
          city?: ExactValue;
          state?: ExactValue;
          zip?: ExactValue;
          phone?: ExactValue;
          email?: ExactValue;
          contact_name?: ExactValue;
          contact_title?: ExactValue;
          contact_email?: ExactValue;
          contact_phone?: ExactValue;
          contact_mobile_phone?: ExactValue;
        } | null;
        payment?: {
          terms?: ExactValue;
          method?: ExactValue;
          notes?: ExactValue;
          amount?: ExactValue;
          reference_number?: ExactValue;
        } | null;
        customer_payment?: {
          terms?: ExactValue;
          method?: ExactValue;
          notes?: ExactValue;
          amount?: ExactValue;
          tariff?: ExactValue;
          deposit?: ExactValue;
          reference_number?: ExactValue;
        } | null;
        pickup?: {
          first_available_pickup_date?: ExactValue;
          date_type?: ExactValue;
          schedule_at_by_customer?: ExactValue;
          schedule_ends_at_by_customer?: ExactValue;
          scheduled_at?: ExactValue;
          schedule_ends_at?: ExactValue;
          schedule_at_by_carrier?: ExactValue;
          scheduled_at_by_carrier?: ExactValue;
          adjusted_date?: ExactValue;
          notes?: ExactValue;
          venue?: {
            name?: ExactValue;
            business_type?: ExactValue;
            address?: ExactValue;
            city?: ExactValue;
            state?: ExactValue;
            zip?: ExactValue;
            contact_name?: ExactValue;
            contact_title?: ExactValue;
            contact_email?: ExactValue;
            contact_phone?: ExactValue;
            contact_mobile_phone?: ExactValue;
          } | null;
        } | null;
        delivery?: {
          date_type?: ExactValue;
          schedule_at_by_customer?: ExactValue;
          schedule_ends_at_by_customer?: ExactValue;
          scheduled_at?: ExactValue;
          schedule_ends_at?: ExactValue;
          schedule_at_by_carrier?: ExactValue;
          scheduled_at_by_carrier?: ExactValue;
          adjusted_date?: ExactValue;
          notes?: ExactValue;
          venue?: {
            name?: ExactValue;
            business_type?: ExactValue;
            address?: ExactValue;
            city?: ExactValue;
            state?: ExactValue;
            zip?: ExactValue;
            contact_name?: ExactValue;
            contact_title?: ExactValue;
            contact_email?: ExactValue;
            contact_phone?: ExactValue;
            contact_mobile_phone?: ExactValue;
          } | null;
        } | null;
      };
    };
  };
}

/**
 * Published when vehicle is created.
 */
export interface ShipperVehicleCreatedEvent {
  guid: string;
  interface: 'shipper';
  action: 'vehicle.created';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the vehicle
     */
    vehicle_guid: string;
    /**
     * what changed, and who changed it
     */
    revision: {
      /**
       * the revision
       */
      guid: string;
      /**
       * the user who made the change
       */
      user_guid?: string | null;
      /**
       * the carrier who made the change, where one did
       */
      carrier?: {
        /**
         * the carrier who made the change
         */
        guid: string;
        /**
         * carrier business name
         */
        name?: string | null;
        /**
         * carrier phone
         */
        phone?: string | null;
        /**
         * carrier e-mail
         */
        email?: string | null;
        /**
         * carrier contact person
         */
        contact_name?: string | null;
      } | null;
      /**
       * values after the change
       */
      after: {
        make?: ExactValue;
        model?: ExactValue;
        type?: ExactValue;
        year?: ExactValue;
        color?: ExactValue;
        vin?: ExactValue;
        price?: ExactValue;
        tariff?: ExactValue;
        lot_number?: ExactValue;
      };
    };
  };
}

/**
 * Published when vehicle is updated.
 */
export interface ShipperVehicleModifiedEvent {
  guid: string;
  interface: 'shipper';
  action: 'vehicle.modified';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the vehicle
     */
    vehicle_guid: string;
    /**
     * what changed, and who changed it
     */
    revision: {
      /**
       * the revision
       */
      guid: string;
      /**
       * the user who made the change
       */
      user_guid?: string | null;
      /**
       * the carrier who made the change, where one did
       */
      carrier?: {
        /**
         * the carrier who made the change
         */
        guid: string;
        /**
         * carrier business name
         */
        name?: string | null;
        /**
         * carrier phone
         */
        phone?: string | null;
        /**
         * carrier e-mail
         */
        email?: string | null;
        /**
         * carrier contact person
         */
        contact_name?: string | null;
      } | null;
      /**
       * values before the change
       */
      before: {
        make?: ExactValue;
        model?: ExactValue;
        type?: ExactValue;
        year?: ExactValue;
        color?: ExactValue;
        vin?: ExactValue;
        price?: ExactValue;
        tariff?: ExactValue;
        lot_number?: ExactValue;
      };
      /**
       * values after the change
       */
      after: {
        make?: ExactValue;
        model?: ExactValue;
        type?: ExactValue;
        year?: ExactValue;
        color?: ExactValue;
        vin?: ExactValue;
        price?: ExactValue;
        tariff?: ExactValue;
        lot_number?: ExactValue;
      };
    };
  };
}

/**
 * Published when vehicle is deleted.
 */
export interface ShipperVehicleDeletedEvent {
  guid: string;
  interface: 'shipper';
  action: 'vehicle.deleted';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the vehicle
     */
    vehicle_guid: string;
    /**
     * what changed, and who changed it
     */
    revision: {
      /**
       * the revision
       */
      guid: string;
      /**
       * the user who made the change
       */
      user_guid?: string | null;
      /**
       * the carrier who made the change, where one did
       */
      carrier?: {
        /**
         * the carrier who made the change
         */
        guid: string;
        /**
         * carrier business name
         */
        name?: string | null;
        /**
         * carrier phone
         */
        phone?: string | null;
        /**
         * carrier e-mail
         */
        email?: string | null;
        /**
         * carrier contact person
         */
        contact_name?: string | null;
      } | null;
      /**
       * values before the change
       */
      before: {
        make?: ExactValue;
        model?: ExactValue;
        type?: ExactValue;
        year?: ExactValue;
        color?: ExactValue;
        vin?: ExactValue;
        price?: ExactValue;
        tariff?: ExactValue;
        lot_number?: ExactValue;
      };
    };
  };
}

/**
 * Published when order is canceled by the shipper.
 */
export interface ShipperOrderCancelEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.cancel';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when a customer submits the order (customer portal or shipper-to-broker flow).
 */
export interface ShipperOrderSubmittedByCustomerEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.submitted_by_customer';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the customer that submitted the order
     */
    customer_counterparty_guid: string;
  };
}

/**
 * Published when order is picked up.
 */
export interface ShipperOrderPickedUpEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.picked_up';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order with an active offer was marked delivered by hand, then the carrier picks it up.
 */
export interface ShipperOrderPickedUpIgnoredEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.picked_up.ignored';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is delivered.
 */
export interface ShipperOrderDeliveredEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.delivered';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order with an active offer was marked delivered by hand, then the carrier delivers it.
 */
export interface ShipperOrderDeliveredIgnoredEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.delivered.ignored';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when pickup bill of lading becomes available (pickup inspection sync finished).
 */
export interface ShipperOrderPickedUpBolEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.picked_up_bol';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the bill of lading as PDF
     */
    pdf_bol_url?: string | null;
    /**
     * the bill of lading as a page
     */
    online_bol_url?: string | null;
  };
}

/**
 * Published when delivery bill of lading becomes available (delivery inspection sync finished).
 */
export interface ShipperOrderDeliveredBolEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.delivered_bol';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the bill of lading as PDF
     */
    pdf_bol_url?: string | null;
    /**
     * the bill of lading as a page
     */
    online_bol_url?: string | null;
    /**
     * the delivery receipt as PDF
     */
    pdf_delivery_receipt_url?: string | null;
  };
}

/**
 * Published when shipper marks the order paid to the carrier.
 */
export interface ShipperOrderPaidEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.paid';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when shipper unmarks the order as paid to the carrier.
 */
export interface ShipperOrderUnmarkAsPaidEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.unmark_as_paid';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is marked paid by the customer.
 */
export interface ShipperOrderCustomerPaidEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.customer_paid';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is invoiced by the carrier.
 */
export interface ShipperOrderInvoicedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.invoiced';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is invoiced to the customer.
 */
export interface ShipperOrderCustomerInvoicedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.customer_invoiced';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is archived.
 */
export interface ShipperOrderArchivedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.archived';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is unarchived.
 */
export interface ShipperOrderUnarchivedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.unarchived';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when shipper marks the order on hold.
 */
export interface ShipperOrderMarkedAsOnHoldEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.marked_as_on_hold';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when shipper unmarks the order as on hold.
 */
export interface ShipperOrderUnmarkedAsOnHoldEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.unmarked_as_on_hold';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when shipper marks the order delivery verified (manual flow of the payment program).
 */
export interface ShipperOrderMarkedAsDeliveryVerifiedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.marked_as_delivery_verified';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when shipper unmarks delivery verified.
 */
export interface ShipperOrderUnmarkedAsDeliveryVerifiedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.unmarked_as_delivery_verified';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is posted to the load board.
 */
export interface ShipperOrderPostedToSlbEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.posted_to_slb';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is removed from the load board.
 */
export interface ShipperOrderRemovedFromSlbEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.removed_from_slb';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is booked by a preferred carrier through the load board.
 */
export interface ShipperOrderBookedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.booked';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is manually marked new.
 */
export interface ShipperOrderManuallyMarkedAsNewEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.manually_marked_as_new';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is manually marked pending.
 */
export interface ShipperOrderManuallyMarkedAsPendingEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.manually_marked_as_pending';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when shipper manually marks the order accepted.
 */
export interface ShipperOrderManuallyMarkedAsAcceptedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.manually_marked_as_accepted';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when shipper manually marks the order invoiced by the carrier.
 */
export interface ShipperOrderManuallyMarkedAsInvoicedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.manually_marked_as_invoiced';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when shipper manually unmarks the order as invoiced by the carrier.
 */
export interface ShipperOrderManuallyUnmarkedAsInvoicedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.manually_unmarked_as_invoiced';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is manually marked picked up.
 */
export interface ShipperOrderManuallyMarkedAsPickedUpEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.manually_marked_as_picked_up';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is manually marked delivered.
 */
export interface ShipperOrderManuallyMarkedAsDeliveredEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.manually_marked_as_delivered';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when a manual status change is rolled back.
 */
export interface ShipperOrderRolledBackManualStatusChangeEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.rolled_back_manual_status_change';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is removed.
 */
export interface ShipperOrderRemovedEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.removed';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when order is restored.
 */
export interface ShipperOrderRestoredEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.restored';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
  };
}

/**
 * Published when load offer is sent.
 */
export interface ShipperOfferSentEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.sent';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when sending a load offer failed.
 */
export interface ShipperOfferSentFailedEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.sent.failed';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when carrier accepts the offer.
 */
export interface ShipperOfferAcceptedEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.accepted';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when carrier accepts after the shipper manually marked the order picked up or delivered.
 */
export interface ShipperOfferAcceptedIgnoredEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.accepted.ignored';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when carrier reverts the order status from picked_up to new.
 */
export interface ShipperOfferUpdatedToAcceptedEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.updated_to_accepted';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when carrier reverts from delivered to new, or from delivered to picked_up to new.
 */
export interface ShipperOfferUpdatedToAcceptedIgnoredEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.updated_to_accepted.ignored';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when offer is declined.
 */
export interface ShipperOfferDeclinedEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.declined';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when carrier declines after the shipper manually marked the order delivered.
 */
export interface ShipperOfferDeclinedIgnoredEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.declined.ignored';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when shipper cancels the offer.
 */
export interface ShipperOfferCanceledEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.canceled';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when carrier cancels the offer.
 */
export interface ShipperOfferCanceledByCarrierEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.canceled_by_carrier';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when carrier cancels after the order was delivered.
 */
export interface ShipperOfferCanceledByCarrierIgnoredEvent {
  guid: string;
  interface: 'shipper';
  action: 'offer.canceled_by_carrier.ignored';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: boolean;
  error_message?: string | null;
  payload: {
    /**
     * the load offer
     */
    offer_guid: string;
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the carrier the offer was sent to
     */
    carrier_guid: string;
    /**
     * the order status
     */
    status: string;
    /**
     * @deprecated
     * primary key of the offer; deprecated
     */
    id?: number | bigint | null;
    /**
     * @deprecated
     * primary key of the order; deprecated
     */
    order_id?: number | bigint | null;
  };
}

/**
 * Published when carrier sends a load request to the shipper.
 */
export interface ShipperLoadRequestCreatedEvent {
  guid: string;
  interface: 'shipper';
  action: 'load_request.created';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the load request
     */
    data: {
      /**
       * the load request
       */
      guid: string;
      /**
       * price suggested by the carrier
       */
      requested_price?: Numeric | string | null;
      /**
       * pickup date suggested by the carrier, as received
       */
      pickup_date?: string | null;
      /**
       * delivery date suggested by the carrier, as received
       */
      delivery_date?: string | null;
      /**
       * carrier note, at most 160 characters
       */
      carrier_comment?: string | null;
      /**
       * the carrier that sent the request
       */
      carrier_guid: string;
      /**
       * carrier e-mail
       */
      carrier_email?: string | null;
      /**
       * carrier phone
       */
      carrier_phone?: string | null;
      /**
       * carrier business name
       */
      carrier_name?: string | null;
      /**
       * carrier contact person
       */
      carrier_contact_name?: string | null;
      /**
       * carrier address
       */
      carrier_address?: string | null;
      /**
       * carrier city
       */
      carrier_city?: string | null;
      /**
       * carrier state
       */
      carrier_state?: string | null;
      /**
       * carrier ZIP
       */
      carrier_zip?: string | null;
      /**
       * carrier USDOT number
       */
      carrier_usdot?: string | null;
    };
  };
}

/**
 * Published when carrier updates own request (price, dates and so on).
 */
export interface ShipperLoadRequestUpdatedEvent {
  guid: string;
  interface: 'shipper';
  action: 'load_request.updated';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the load request
     */
    data: {
      /**
       * the load request
       */
      guid: string;
      /**
       * price suggested by the carrier
       */
      requested_price?: Numeric | string | null;
      /**
       * pickup date suggested by the carrier, as received
       */
      pickup_date?: string | null;
      /**
       * delivery date suggested by the carrier, as received
       */
      delivery_date?: string | null;
      /**
       * carrier note, at most 160 characters
       */
      carrier_comment?: string | null;
      /**
       * the carrier that sent the request
       */
      carrier_guid: string;
      /**
       * carrier e-mail
       */
      carrier_email?: string | null;
      /**
       * carrier phone
       */
      carrier_phone?: string | null;
      /**
       * carrier business name
       */
      carrier_name?: string | null;
      /**
       * carrier contact person
       */
      carrier_contact_name?: string | null;
      /**
       * carrier address
       */
      carrier_address?: string | null;
      /**
       * carrier city
       */
      carrier_city?: string | null;
      /**
       * carrier state
       */
      carrier_state?: string | null;
      /**
       * carrier ZIP
       */
      carrier_zip?: string | null;
      /**
       * carrier USDOT number
       */
      carrier_usdot?: string | null;
    };
  };
}

/**
 * Published when carrier cancels own request.
 */
export interface ShipperLoadRequestCanceledByCarrierEvent {
  guid: string;
  interface: 'shipper';
  action: 'load_request.canceled_by_carrier';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the load request
     */
    data: {
      /**
       * the load request
       */
      guid: string;
      /**
       * price suggested by the carrier
       */
      requested_price?: Numeric | string | null;
      /**
       * pickup date suggested by the carrier, as received
       */
      pickup_date?: string | null;
      /**
       * delivery date suggested by the carrier, as received
       */
      delivery_date?: string | null;
      /**
       * carrier note, at most 160 characters
       */
      carrier_comment?: string | null;
      /**
       * the carrier that sent the request
       */
      carrier_guid: string;
      /**
       * carrier e-mail
       */
      carrier_email?: string | null;
      /**
       * carrier phone
       */
      carrier_phone?: string | null;
      /**
       * carrier business name
       */
      carrier_name?: string | null;
      /**
       * carrier contact person
       */
      carrier_contact_name?: string | null;
      /**
       * carrier address
       */
      carrier_address?: string | null;
      /**
       * carrier city
       */
      carrier_city?: string | null;
      /**
       * carrier state
       */
      carrier_state?: string | null;
      /**
       * carrier ZIP
       */
      carrier_zip?: string | null;
      /**
       * carrier USDOT number
       */
      carrier_usdot?: string | null;
    };
  };
}

/**
 * Published when shipper declines the request.
 */
export interface ShipperLoadRequestDeclinedByShipperEvent {
  guid: string;
  interface: 'shipper';
  action: 'load_request.declined_by_shipper';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the load request
     */
    data: {
      /**
       * the load request
       */
      guid: string;
      /**
       * price suggested by the carrier
       */
      requested_price?: Numeric | string | null;
      /**
       * pickup date suggested by the carrier, as received
       */
      pickup_date?: string | null;
      /**
       * delivery date suggested by the carrier, as received
       */
      delivery_date?: string | null;
      /**
       * carrier note, at most 160 characters
       */
      carrier_comment?: string | null;
      /**
       * the carrier that sent the request
       */
      carrier_guid: string;
      /**
       * carrier e-mail
       */
      carrier_email?: string | null;
      /**
       * carrier phone
       */
      carrier_phone?: string | null;
      /**
       * carrier business name
       */
      carrier_name?: string | null;
      /**
       * carrier contact person
       */
      carrier_contact_name?: string | null;
      /**
       * carrier address
       */
      carrier_address?: string | null;
      /**
       * carrier city
       */
      carrier_city?: string | null;
      /**
       * carrier state
       */
      carrier_state?: string | null;
      /**
       * carrier ZIP
       */
      carrier_zip?: string | null;
      /**
       * carrier USDOT number
       */
      carrier_usdot?: string | null;
    };
  };
}

/**
 * Published when driver updates the pickup ETA for a vehicle.
 */
export interface ShipperVehiclePickupEtaUpdatedByDriverEvent {
  guid: string;
  interface: 'shipper';
  action: 'vehicle.pickup_eta_updated_by_driver';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * vehicles whose ETA was updated
     *
     * @minItems 1
     */
    vehicle_guids: string[];
    /**
     * optional driver notes
     */
    notes?: string | null;
    /**
     * start of the ETA window, as received
     */
    date_from: string;
    /**
     * end of the ETA window, as received
     */
    date_until: string;
  };
}

/**
 * Published when driver updates the delivery ETA for a vehicle.
 */
export interface ShipperVehicleDeliveryEtaUpdatedByDriverEvent {
  guid: string;
  interface: 'shipper';
  action: 'vehicle.delivery_eta_updated_by_driver';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * vehicles whose ETA was updated
     *
     * @minItems 1
     */
    vehicle_guids: string[];
    /**
     * optional driver notes
     */
    notes?: string | null;
    /**
     * start of the ETA window, as received
     */
    date_from: string;
    /**
     * end of the ETA window, as received
     */
    date_until: string;
  };
}

/**
 * Published when a significant location change of the driver is received during transport.
 */
export interface ShipperVehicleDriverLocationUpdatedEvent {
  guid: string;
  interface: 'shipper';
  action: 'vehicle.driver_location_updated';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * vehicles whose location was updated
     *
     * @minItems 1
     */
    vehicle_guids: string[];
    /**
     * current latitude
     */
    latitude: Numeric;
    /**
     * current longitude
     */
    longitude: Numeric;
    /**
     * current address, reverse geocoded
     */
    address?: string | null;
  };
}

/**
 * Published when the first GPS location is received for picked-up vehicles (GPS on).
 */
export interface ShipperVehicleGpsActivatedEvent {
  guid: string;
  interface: 'shipper';
  action: 'vehicle.gps_activated';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * vehicles whose GPS status changed together in one batch
     *
     * @minItems 1
     */
    vehicle_guids: string[];
    /**
     * true for activated, false for deactivated
     */
    gps_active: true;
  };
}

/**
 * Published when no GPS location for more than one hour (GPS off).
 */
export interface ShipperVehicleGpsDeactivatedEvent {
  guid: string;
  interface: 'shipper';
  action: 'vehicle.gps_deactivated';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * vehicles whose GPS status changed together in one batch
     *
     * @minItems 1
     */
    vehicle_guids: string[];
    /**
     * true for activated, false for deactivated
     */
    gps_active: false;
  };
}

/**
 * Published when broker submits an escalation.
 */
export interface ShipperEscalationSubmittedEvent {
  guid: string;
  interface: 'shipper';
  action: 'escalation.submitted';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    action?: never;
    action_date?: never;
    error_message?: never;
    [k: string]: ExactValue | string | undefined;
  };
}

/**
 * Published when shipper resolves the escalation.
 */
export interface ShipperEscalationResolvedEvent {
  guid: string;
  interface: 'shipper';
  action: 'escalation.resolved';
  occurred_at: string;
  parties: {
    shipper: string;
    broker: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * who resolved the escalation
     */
    resolver_guid: string;
    /**
     * the escalation
     */
    escalation_guid: string;
    /**
     * reason code to reason text
     */
    resolve_reasons?: {
      [k: string]: string;
    } | null;
  };
}

/**
 * Published when shipper cancels the order.
 */
export interface ShipperOrderCancelledByCustomerEvent {
  guid: string;
  interface: 'shipper';
  action: 'order.cancelled_by_customer';
  occurred_at: string;
  parties: {
    broker: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    action?: never;
    action_date?: never;
    error_message?: never;
    [k: string]: ExactValue | string | undefined;
  };
}

/**
 * Published when the insurer actually issues a policy for a vehicle on the order (not when it is requested).
 */
export interface ShipperInsuranceIssuedEvent {
  guid: string;
  interface: 'shipper';
  action: 'insurance.issued';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the insured vehicle
     */
    vehicle_guid: string;
    /**
     * issued premium in USD; may differ from an earlier quote
     */
    calculated_premium: Numeric;
    /**
     * link to the insurance portal for the order
     */
    personal_link: string;
  };
}

/**
 * Published when an issued policy is canceled, including as a side effect of an order change (not always a deliberate cancellation).
 */
export interface ShipperInsuranceCanceledEvent {
  guid: string;
  interface: 'shipper';
  action: 'insurance.canceled';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * the insured vehicle
     */
    vehicle_guid: string;
    /**
     * why the policy was canceled
     */
    cancellation_reason: 'ORDER_CANCELED' | 'VEHICLE_REMOVED' | 'VEHICLE_MODIFIED' | 'CANCELED_VIA_INSURER';
  };
}

/**
 * Published when the payment program is activated, deactivated or suspended.
 */
export interface ShipperServicepaySettingsUpdatedEvent {
  guid: string;
  interface: 'shipper';
  action: 'servicepay_settings.updated';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the flow of the payment program
     */
    flow: string;
    /**
     * whether the payment program is active
     */
    enabled: boolean;
    /**
     * whether the payment program is suspended
     */
    suspended: boolean;
  };
}

/**
 * Published when the payment status of an order changes.
 */
export interface ShipperServicepayUpdatedEvent {
  guid: string;
  interface: 'shipper';
  action: 'servicepay.updated';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the related order
     */
    order_guid: string;
    /**
     * status of the payment
     */
    payment_status: string;
    /**
     * status of its processing
     */
    processing_status: string;
    /**
     * the amount paid
     */
    amount: Numeric;
    /**
     * when the shipper was charged
     */
    charged_at?: string | null;
    /**
     * date of the charge, yyyy-mm-dd
     */
    charge_date?: string | null;
    /**
     * date on which the payment is expected, yyyy-mm-dd
     */
    expected_date?: string | null;
    /**
     * when the carrier was paid
     */
    paid_at?: string | null;
    /**
     * when the payment last changed
     */
    changed_at?: string | null;
    /**
     * why the payment is held, if it is
     */
    hold?: ExactObject | null;
    /**
     * the refund, if there is one
     */
    refund?: ExactObject | null;
  };
}

/**
 * Published when a new order is created.
 */
export interface CarrierOrderCreatedEvent {
  guid: string;
  interface: 'carrier';
  action: 'order.created';
  occurred_at: string;
  parties: {
    carrier: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the order
     */
    id: number | bigint;
    /**
     * the order status
     */
    status: string;
  };
}

/**
 * Published when an order is assigned to a driver.
 */
export interface CarrierOrderAssignedEvent {
  guid: string;
  interface: 'carrier';
  action: 'order.assigned';
  occurred_at: string;
  parties: {
    carrier: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    [k: string]: ExactValue;
  };
}

/**
 * Published when order details are modified.
 */
export interface CarrierOrderUpdatedEvent {
  guid: string;
  interface: 'carrier';
  action: 'order.updated';
  occurred_at: string;
  parties: {
    carrier: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    [k: string]: ExactValue;
  };
}

/**
 * Published when an order is picked up.
 */
export interface CarrierOrderPickedUpEvent {
  guid: string;
  interface: 'carrier';
  action: 'order.picked_up';
  occurred_at: string;
  parties: {
    carrier: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    [k: string]: ExactValue;
  };
}

/**
 * Published when an order is delivered.
 */
export interface CarrierOrderDeliveredEvent {
  guid: string;
  interface: 'carrier';
  action: 'order.delivered';
  occurred_at: string;
  parties: {
    carrier: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    [k: string]: ExactValue;
  };
}

/**
 * Published when an order is cancelled.
 */
export interface CarrierOrderCancelledEvent {
  guid: string;
  interface: 'carrier';
  action: 'order.cancelled';
  occurred_at: string;
  parties: {
    carrier: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    [k: string]: ExactValue;
  };
}

/**
 * Published when a damage report is created.
 */
export interface CarrierDamageCreatedEvent {
  guid: string;
  interface: 'carrier';
  action: 'damage.created';
  occurred_at: string;
  parties: {
    carrier: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    [k: string]: ExactValue;
  };
}

/**
 * Published when a damage report is deleted.
 */
export interface CarrierDamageDeletedEvent {
  guid: string;
  interface: 'carrier';
  action: 'damage.deleted';
  occurred_at: string;
  parties: {
    carrier: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    [k: string]: ExactValue;
  };
}

/**
 * Published when a driver reports where the vehicles are; never sent to clients.
 */
export interface ShipperVehicleLocationReportedEvent {
  guid: string;
  interface: 'shipper';
  action: 'vehicle.location_reported';
  occurred_at: string;
  parties: {
    shipper: string;
  };
  ignored?: false;
  error_message?: string | null;
  payload: {
    /**
     * the vehicles that the driver has, each once
     *
     * @minItems 1
     */
    vehicles: {
      /**
       * the vehicle
       */
      guid: string;
      /**
       * whether it is in transport: only then it is announced
       */
      picked_up: boolean;
    }[];
    /**
     * degrees, north is positive
     */
    latitude: Numeric;
    /**
     * degrees, east is positive
     */
    longitude: Numeric;
    /**
     * when the position was taken
     */
    recorded_at: string;
    /**
     * what is there, where it is known
     */
    address?: string | null;
  };
}

/** Any event that Waybell takes. */
export type Event =
  | ShipperOrderCreatedEvent
  | ShipperOrderModifiedEvent
  | ShipperVehicleCreatedEvent
  | ShipperVehicleModifiedEvent
  | ShipperVehicleDeletedEvent
  | ShipperOrderCancelEvent
  | ShipperOrderSubmittedByCustomerEvent
  | ShipperOrderPickedUpEvent
  | ShipperOrderPickedUpIgnoredEvent
  | ShipperOrderDeliveredEvent
  | ShipperOrderDeliveredIgnoredEvent
  | ShipperOrderPickedUpBolEvent
  | ShipperOrderDeliveredBolEvent
  | ShipperOrderPaidEvent
  | ShipperOrderUnmarkAsPaidEvent
  | ShipperOrderCustomerPaidEvent
  | ShipperOrderInvoicedEvent
  | ShipperOrderCustomerInvoicedEvent
  | ShipperOrderArchivedEvent
  | ShipperOrderUnarchivedEvent
  | ShipperOrderMarkedAsOnHoldEvent
  | ShipperOrderUnmarkedAsOnHoldEvent
  | ShipperOrderMarkedAsDeliveryVerifiedEvent
  | ShipperOrderUnmarkedAsDeliveryVerifiedEvent
  | ShipperOrderPostedToSlbEvent
  | ShipperOrderRemovedFromSlbEvent
  | ShipperOrderBookedEvent
  | ShipperOrderManuallyMarkedAsNewEvent
  | ShipperOrderManuallyMarkedAsPendingEvent
  | ShipperOrderManuallyMarkedAsAcceptedEvent
  | ShipperOrderManuallyMarkedAsInvoicedEvent
  | ShipperOrderManuallyUnmarkedAsInvoicedEvent
  | ShipperOrderManuallyMarkedAsPickedUpEvent
  | ShipperOrderManuallyMarkedAsDeliveredEvent
  | ShipperOrderRolledBackManualStatusChangeEvent
  | ShipperOrderRemovedEvent
  | ShipperOrderRestoredEvent
  | ShipperOfferSentEvent
  | ShipperOfferSentFailedEvent
  | ShipperOfferAcceptedEvent
  | ShipperOfferAcceptedIgnoredEvent
  | ShipperOfferUpdatedToAcceptedEvent
  | ShipperOfferUpdatedToAcceptedIgnoredEvent
  | ShipperOfferDeclinedEvent
  | ShipperOfferDeclinedIgnoredEvent
  | ShipperOfferCanceledEvent
  | ShipperOfferCanceledByCarrierEvent
  | ShipperOfferCanceledByCarrierIgnoredEvent
  | ShipperLoadRequestCreatedEvent
  | ShipperLoadRequestUpdatedEvent
  | ShipperLoadRequestCanceledByCarrierEvent
  | ShipperLoadRequestDeclinedByShipperEvent
  | ShipperVehiclePickupEtaUpdatedByDriverEvent
  | ShipperVehicleDeliveryEtaUpdatedByDriverEvent
  | ShipperVehicleDriverLocationUpdatedEvent
  | ShipperVehicleGpsActivatedEvent
  | ShipperVehicleGpsDeactivatedEvent
  | ShipperEscalationSubmittedEvent
  | ShipperEscalationResolvedEvent
  | ShipperOrderCancelledByCustomerEvent
  | ShipperInsuranceIssuedEvent
  | ShipperInsuranceCanceledEvent
  | ShipperServicepaySettingsUpdatedEvent
  | ShipperServicepayUpdatedEvent
  | CarrierOrderCreatedEvent
  | CarrierOrderAssignedEvent
  | CarrierOrderUpdatedEvent
  | CarrierOrderPickedUpEvent
  | CarrierOrderDeliveredEvent
  | CarrierOrderCancelledEvent
  | CarrierDamageCreatedEvent
  | CarrierDamageDeletedEvent
  | ShipperVehicleLocationReportedEvent
;