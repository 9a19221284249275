module example.com/waybell

go 1.24

require (
	github.com/rabbitmq/amqp091-go v1.16.0
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
)
