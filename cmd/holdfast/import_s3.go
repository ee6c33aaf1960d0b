package main

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/elsewhere"
)

func newImportS3Command(a *app) *cobra.Command {
	var flags broughtFlags
	from := elsewhere.S3{}
	cmd := &cobra.Command{
		Use:   "s3 BUCKET [STATE…]",
		Short: "Bring the states of an S3 bucket, with the versions that it keeps",
		Long: `Bring the objects of an S3 bucket whose keys end in .tfstate, with the versions that it keeps. A state
is called by its key, without .tfstate and without a last terraform; env:/prod/network.tfstate, which is
how clients keep a workspace, is prod/network. One that is deleted there is passed over.

The credentials come from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN in the
environment, the region from AWS_REGION: "aws configure export-credentials --format env" prints such lines.
They need s3:ListBucketVersions, s3:GetObject and s3:GetObjectVersion.`,
		Example: `  holdfast import s3 acme-states --dry-run
  holdfast import s3 acme-states --prefix live/ --into prod
  holdfast import s3 states --endpoint https://minio.example.com`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&from.Prefix, "prefix", "", "what the keys begin with")
	cmd.Flags().StringVar(&from.Endpoint, "endpoint", "", "address of a service that is not AWS's")
	cmd.Flags().StringVar(&from.Region, "region", "", "region of the bucket (default: AWS_REGION, else us-east-1)")
	flags.add(cmd)
	return a.remote(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		from.Bucket, from.Region = args[0], cmp.Or(from.Region, a.getenv("AWS_REGION"), a.getenv("AWS_DEFAULT_REGION"), "us-east-1")
		from.Endpoint = cmp.Or(from.Endpoint, "https://s3."+from.Region+".amazonaws.com")
		from.Key, from.Secret, from.Session = a.getenv("AWS_ACCESS_KEY_ID"), a.getenv("AWS_SECRET_ACCESS_KEY"), a.getenv("AWS_SESSION_TOKEN")
		if from.Key == "" || from.Secret == "" {
			return usagef("there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
		}
		if _, err := readAddress(from.Endpoint); err != nil {
			return usagef("--endpoint: %w", err)
		}
		return a.bring(ctx, c, &from, args[1:], flags)
	})
}
